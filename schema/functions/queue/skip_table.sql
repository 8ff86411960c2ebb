-- Purpose:    discards a table's changes that a target refused, as rowrelay.skip() does, and those that wait because
--             the target cannot take the table: for a table that is gone here, or should not go there. The log keeps
--             the changes.
-- Parameters: relation: name of the table, which may be gone, or its oid; target (null: all)
-- Result:     number of discarded changes
-- Errors:     no such target; no table of that name was ever captured; changes of several tables that have or had that
--             name are refused: what waits of a new table is not meant where a dropped one is
create or replace function rowrelay.skip_table(relation text, target text default null) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  target_id  integer;
  captures   integer[];
  tables     text[]; -- whose changes are refused
  change_ids bigint[];
  given_up   bigint := 0;
begin
  perform rowrelay.lock_configuration();
  if target is not null then
    target_id := rowrelay.target_id(target);
  end if;
  captures := array(select c.id from unnest(rowrelay.captures_named(relation)) as c(id)
                     where exists (select from rowrelay.refusal f
                                    where f.capture = c.id and (target_id is null or f.target = target_id)));
  tables := array(select distinct format('%s is %s', c.relation::oid,
                                         coalesce(rowrelay.full_name(c.relation), c.relation_name || ', dropped'))
                    from rowrelay.capture c where c.id = any (captures) order by 1);
  if cardinality(tables) > 1 then
    raise exception 'changes of % tables with the name "%" are refused', cardinality(tables), relation
      using errcode = 'invalid_parameter_value', detail = array_to_string(tables, '; '),
        hint = 'Name one of them by its number: '
                 || rowrelay.command('rowrelay skip --all --table NUMBER', 'select rowrelay.skip_table(''NUMBER'');');
  end if;
  -- by id, so that only changes of this table are discarded
  change_ids := array(select f.change_id from rowrelay.refusal f where f.capture = any (captures)
                      and f.state = 'error');
  perform rowrelay.lock_refused_lanes(target, change_ids, captures); -- all at once, before any other lock
  if cardinality(change_ids) > 0 then
    given_up := rowrelay.skip(target, change_ids);
  end if;
  return given_up + rowrelay.skip_waiting(target_id, captures, null);
end
$$;
