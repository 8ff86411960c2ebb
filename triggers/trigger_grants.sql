-- Purpose:    returns statements that set the rights on a capture's trigger function and on those beside it. Nobody may
--             execute them, because that would be a way to write to the log; except the owner of a partitioned table,
--             because PostgreSQL checks that right when it creates the triggers on a new partition.
-- Parameters: capture whose trigger function exists
-- Result:     GRANT and REVOKE statements; none when the rights are correct
create or replace function rowrelay.trigger_grants(capture rowrelay.capture) returns setof text
language plpgsql stable as $$
begin
  return query
    with trigger_function as (
      select p.oid, p.proowner, coalesce(p.proacl, acldefault('f', p.proowner)) as acl, p.proname
        from rowrelay.made_functions(capture.id) as m
        join pg_proc p on p.oid = m.made
    ), wanted(oid, grantee) as (
      select f.oid, c.relowner from pg_class c, trigger_function f
       where c.oid = capture.relation and c.relkind = 'p' and c.relowner <> f.proowner
         and f.proname = 'capture_' || capture.id
    ), present(oid, grantee) as (
      select f.oid, a.grantee from trigger_function f, aclexplode(f.acl) as a where a.grantee <> f.proowner
    )
    select format('revoke all on function %s from %s', p.oid::regprocedure,
                  case p.grantee when 0 then 'public' else p.grantee::regrole::text end)
      from (table present except table wanted) as p
     union all
    select format('grant execute on function %s to %s', w.oid::regprocedure, w.grantee::regrole)
      from (table wanted except table present) as w;
end
$$;
