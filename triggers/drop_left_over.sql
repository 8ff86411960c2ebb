-- Purpose:    drops the triggers of a capture from tables that no longer belong to it: children that no longer inherit,
--             detached partitions
-- Parameters: capture; the tables; how long to try for their locks
-- Errors:     as for rowrelay.lock_tables()
create or replace function rowrelay.drop_left_over(capture rowrelay.capture, tables regclass[], patience interval)
  returns void
language plpgsql as $$
declare
  members constant regclass[] := rowrelay.captured_tables(capture); -- asked once: there may be thousands
  doomed  record;
begin
  perform rowrelay.lock_tables(tables, 'access exclusive', patience);
  for doomed in
    select t.relation, t.name from rowrelay.triggers_on(capture, tables) t
     where not t.is_copy and t.relation <> all (members)
  loop
    execute format('drop trigger %I on %s', doomed.name, doomed.relation);
  end loop;
end
$$;
