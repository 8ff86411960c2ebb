-- Purpose:    drops a capture's triggers from its tables, and leftover triggers of other captures; the caller has
--             locked the tables
-- Parameters: capture
create or replace function rowrelay.detach_triggers(capture rowrelay.capture) returns void
language plpgsql as $$
declare
  doomed record;
begin
  for doomed in
    select o.relation, o.name from rowrelay.own_triggers(capture) o where not o.is_copy
    union
    select o.relation, o.name from rowrelay.other_triggers(capture, rowrelay.captured_tables(capture)) o
  loop
    execute format('drop trigger if exists %I on %s', doomed.name, doomed.relation);
  end loop;
end
$$;
