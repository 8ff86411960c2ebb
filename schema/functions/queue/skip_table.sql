-- Purpose:    discards a table's changes that a target refused, as rowrelay.skip() does, and those that wait because
--             the target cannot take the table: for a table that is gone here, or should not go there. The log keeps
--             the changes.
-- Parameters: relation: name of the table, which may be gone; target (null: all)
-- Result:     number of discarded changes
-- Errors:     no such target; no table of that name was ever captured
create or replace function rowrelay.skip_table(relation text, target text default null) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  captures   integer[];
  change_ids bigint[];
  given_up   bigint := 0;
begin
  perform rowrelay.lock_configuration();
  captures := rowrelay.captures_named(relation);
  -- by id, so that only changes of this table are discarded
  change_ids := array(select f.change_id from rowrelay.refusal f where f.capture = any (captures)
                      and f.state = 'error');
  perform rowrelay.lock_refused_lanes(target, change_ids, captures); -- all at once, before any other lock
  if cardinality(change_ids) > 0 then
    given_up := rowrelay.skip(target, change_ids);
  end if;
  return given_up + rowrelay.skip_waiting(case when target is not null then rowrelay.target_id(target) end,
                                          captures, null);
end
$$;
