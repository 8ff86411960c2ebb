-- Purpose:    drops a capture's triggers from its tables, and leftover triggers of other captures; the caller has
--             locked the tables
-- Parameters: capture
create or replace function rowrelay.detach_triggers(capture rowrelay.capture) returns void
language plpgsql as $$
declare
  doomed record;
begin
  for doomed in
    select t.relation, t.name from rowrelay.triggers_to_drop(capture) t
  loop
    execute format('drop trigger if exists %I on %s', doomed.name, doomed.relation);
  end loop;
end
$$;
