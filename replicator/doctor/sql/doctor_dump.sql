-- Roles that could dump the whole database without schema rowrelay, and cannot with it: pg_dump locks and reads every
-- table, and the log has rows of tables that such a role may not read. It needs no schema rowrelay.
-- Gives finding: level, what, tables, meaning, command
with application as (
  select c.oid, c.relowner from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
   where c.relkind in ('r', 'p') and c.relpersistence <> 't'
     and n.nspname !~ '^(pg_.*|information_schema|rowrelay|rowrelay_target)$'
)
select 'warn' as level, 'pg_dump' as what, null::json as tables,
       format('of the whole database %s as role %s, which may not read the log',
              case when n.oid is null then 'will fail' else 'fails' end,
              string_agg(quote_ident(r.rolname), ', ' order by r.rolname)) as meaning,
       'pg_dump --exclude-schema=rowrelay' as command
  from pg_catalog.pg_database d
  join pg_catalog.pg_roles r on r.rolcanlogin and not r.rolsuper
  left join pg_catalog.pg_namespace n on n.nspname = 'rowrelay'
 where d.datname = current_database()
   and not pg_catalog.pg_has_role(r.rolname, coalesce(pg_catalog.pg_get_userbyid(n.nspowner), current_user), 'usage')
   and not exists (select from pg_catalog.pg_roles a
                    where a.rolname = 'pg_read_all_data' and pg_catalog.pg_has_role(r.oid, a.oid, 'usage'))
   and exists (select from application a where pg_catalog.pg_has_role(r.oid, a.relowner, 'usage')
                                            or pg_catalog.pg_has_role(r.oid, d.datdba, 'usage'))
   and not exists (select from application a where not pg_catalog.has_table_privilege(r.oid, a.oid, 'select'))
 group by n.oid;
