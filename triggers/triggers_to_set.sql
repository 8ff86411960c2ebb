-- Purpose:    lists the triggers of a capture that are not enabled as they have to be. Most are to fire under
--             session_replication_role = replica too, which tools that load data set.
-- Parameters: capture; its tables
-- Result:     table; ALTER TABLE statement
create or replace function rowrelay.triggers_to_set(capture rowrelay.capture, tables regclass[],
                                                    out relation regclass, out statement text) returns setof record
language sql as $$
  select o.relation, rowrelay.trigger_setting(o.relation, o.name, coalesce(w.state, 'A'))
    from rowrelay.triggers_on(capture, tables) o
    -- partitions have copies of their table's triggers
    left join rowrelay.wanted_triggers(capture, false) w on w.relation = o.relation and w.name = o.name
   where o.relation = any (tables) and o.state <> coalesce(w.state, 'A')
$$;
