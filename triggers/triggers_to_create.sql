-- Purpose:    lists the triggers that a capture needs and its tables lack
-- Parameters: capture; its tables; anew: whether the existing ones will be dropped
-- Result:     table, trigger name, CREATE TRIGGER statement
create or replace function rowrelay.triggers_to_create(capture rowrelay.capture, tables regclass[], anew boolean,
                                                       out relation regclass, out name text, out statement text)
returns setof record language sql as $$
  select w.relation, w.name, w.statement
    from rowrelay.wanted_triggers(capture) w
   where anew or not exists (select from rowrelay.triggers_on(capture, tables) o where o.relation = w.relation
                             and o.name = w.name)
$$;
