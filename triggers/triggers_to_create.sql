-- Purpose:    lists the triggers that a capture needs and its tables lack
-- Parameters: capture; its tables; anew: whether the existing ones will be dropped; is_new: as for
--             rowrelay.wanted_triggers()
-- Result:     table, trigger name, CREATE TRIGGER statement; the state it is to have
create or replace function rowrelay.triggers_to_create(capture rowrelay.capture, tables regclass[], anew boolean,
                                                       is_new boolean, out relation regclass, out name text,
                                                       out statement text, out state "char")
returns setof record language sql as $$
  select w.relation, w.name, w.statement, w.state
    from rowrelay.wanted_triggers(capture, is_new) w
   where anew or not exists (select from rowrelay.triggers_on(capture, tables) o where o.relation = w.relation
                             and o.name = w.name)
$$;
