-- Purpose:    lists the triggers to drop before a capture's are created again: its own, and those that another capture
--             left on its tables. A partition's copy is dropped with its parent's.
-- Parameters: capture
-- Result:     table, trigger name
create or replace function rowrelay.triggers_to_drop(capture rowrelay.capture, out relation regclass, out name text)
returns setof record language sql stable as $$
  select o.relation, o.name from rowrelay.own_triggers(capture) o where not o.is_copy
  union
  select o.relation, o.name from rowrelay.other_triggers(capture, rowrelay.captured_tables(capture)) o
$$;
