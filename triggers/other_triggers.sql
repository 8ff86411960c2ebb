-- Purpose:    lists rowrelay's triggers on the tables of a capture that do not belong to it, left by another capture of
--             which the table was once a partition. Triggers of the application with such names do not count.
-- Parameters: capture; its tables
-- Result:     table; trigger's name
create or replace function rowrelay.other_triggers(capture rowrelay.capture, tables regclass[], out relation regclass,
                                                   out name text)
returns setof record language sql stable as $$
  select t.tgrelid::regclass, t.tgname::text
    from pg_trigger t
    join pg_proc p on p.oid = t.tgfoid and p.pronamespace = 'rowrelay'::regnamespace
   where t.tgrelid = any (tables) and t.tgname like '!rowrelay%'
     and not exists (select from rowrelay.triggers_on(capture, tables) o where o.relation = t.tgrelid
                     and o.name = t.tgname)
$$;
