-- Purpose:    returns the statement that undoes one change. It changes nothing when the row is not as the log left it.
-- Parameters: step
-- Result:     INSERT, UPDATE or DELETE; null when there is nothing to change that the log knows of
-- Errors:     the log does not have columns that it would have to write, because they are left out or masked
create or replace function rowrelay.undo_statement(step rowrelay.undo_step) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp set quote_all_identifiers = off as $$
declare
  capture rowrelay.capture;
  has_key boolean;
  place   text;
  written text;
begin
  select c.* into strict capture from rowrelay.capture c where c.id = step.capture;
  has_key := cardinality(rowrelay.live_key(capture)) > 0;
  if step.was is null then
    return rowrelay.undo_insert(capture, step);
  end if;

  place := rowrelay.row_condition(capture, step.was, case when has_key then 't' else 'k' end);
  if not has_key then
    -- one of several equal rows
    place := format('(t.tableoid, t.ctid) = (select k.tableoid, k.ctid from %s as k where %s limit 1)',
                    step.relation, place);
  end if;
  if step.be is null then
    -- rows that refer to it are not part of this change, and must not be deleted with it
    return format('delete from %s as t where %s', step.relation, place)
           || coalesce((select string_agg(format(' and not exists (select from %s as c where %s)', r.child,
                                                 r.condition), '' order by r.child::text)
                          from rowrelay.rows_that_would_follow(step.relation, 't', 'c') r), '');
  end if;
  select string_agg(format('%I = %s', a.attname,
                           rowrelay.typed_literal(step.relation, a.attname, step.be ->> a.attname)),
                    ', ' order by a.attnum)
    into written
    from pg_attribute a
   where a.attrelid = step.relation and not a.attisdropped and step.be ? a.attname::text and step.was ? a.attname::text
     and step.was ->> a.attname is distinct from step.be ->> a.attname
     and not (capture.mask ? a.attnum::text or capture.mask_names ? a.attname::text);
  return case when written is not null then format('update %s as t set %s where %s', step.relation, written, place) end;
end
$$;
