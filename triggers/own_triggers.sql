-- Purpose:    lists the triggers of a capture on any table: a detached partition still has the one for TRUNCATE
-- Parameters: capture
-- Result:     table; trigger's name; whether it is enabled always; whether it is a partition's copy, which is dropped
--             with its parent's
create or replace function rowrelay.own_triggers(capture rowrelay.capture, out relation regclass, out name text,
                                                 out is_always boolean, out is_copy boolean) returns setof record
language sql stable as $$
  select o.relation, o.name, o.state = 'A', o.is_copy from rowrelay.triggers_on(capture, null) as o
$$;
