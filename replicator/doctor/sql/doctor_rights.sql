-- The roles that have rights in schema rowrelay besides its owner, and who may act as them. No row: there are none.
-- Gives finding: level, what, tables, meaning, command
with recursive granted as (
  select a.grantee as role, n.nspowner as owner
    from pg_catalog.pg_namespace n, pg_catalog.aclexplode(n.nspacl) as a
   where n.nspname = 'rowrelay' and a.grantee <> n.nspowner
   group by 1, 2
), member(role, oid) as (
  select g.role, g.role from granted g
  union
  select m.role, a.member from member m join pg_catalog.pg_auth_members a on a.roleid = m.oid
   -- since PostgreSQL 16 a role's maker is a member that may only grant it
   where coalesce((to_jsonb(a) ->> 'inherit_option')::bool or (to_jsonb(a) ->> 'set_option')::bool, true)
), person as (
  select m.role, quote_ident(u.rolname) as name, row_number() over (partition by m.role order by u.rolname) as place
    from member m join pg_catalog.pg_roles u on u.oid = m.oid
   where m.oid <> m.role and u.rolcanlogin
), described as (
  select g.owner, r.rolname,
         concat(coalesce(quote_ident(r.rolname), 'every role'),
                ' (' || (select concat(string_agg(p.name, ', ' order by p.place) filter (where p.place <= 10),
                                       ' and ' || nullif(greatest(count(*) - 10, 0), 0) || ' more')
                           from person p where p.role = g.role having count(*) > 0) || ')',
                case r.rolname
                  when 'rowrelay_admin' then ' may do everything, and run SQL as the owner by filters and queries'
                  when 'rowrelay_worker' then ' may deliver, and read the whole log'
                  when 'rowrelay_reader' then ' may read the history of tables that it may select from'
                  else ' has rights that were granted by hand' end) as words
    from granted g left join pg_catalog.pg_roles r on r.oid = g.role
)
select 'ok' as level, 'access' as what, null::json as tables,
       format('the owner is %s; %s', d.owner::regrole, string_agg(d.words, '; ' order by d.rolname)) as meaning,
       null::text as command
  from described d
 group by d.owner;
