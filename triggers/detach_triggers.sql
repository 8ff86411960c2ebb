-- Purpose:    takes a capture's triggers off its tables; the caller has locked them
-- Parameters: capture
create or replace function rowrelay.detach_triggers(capture rowrelay.capture) returns void
language plpgsql as $$
declare
  doomed record;
begin
  for doomed in
    select t.tgrelid::regclass as relation, t.tgname
      from pg_trigger t
     where t.tgrelid = any (rowrelay.captured_tables(capture)) and t.tgname like '!rowrelay%'
       and not exists (select from pg_depend d -- a partition's goes with its parent's
                        where d.classid = 'pg_trigger'::regclass and d.objid = t.oid and d.refclassid = 'pg_trigger'::regclass)
  loop
    execute format('drop trigger if exists %I on %s', doomed.tgname, doomed.relation);
  end loop;
end
$$;
