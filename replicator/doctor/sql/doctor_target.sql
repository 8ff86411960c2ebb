-- What is to be known of a PostgreSQL target, asked there. It reads only catalogs.
--   $1 the target's name; $2 microseconds by which clocks differ at least; $3 the name as a shell reads it
-- Gives finding: level, what, tables, meaning, command
select case when pg_catalog.pg_is_in_recovery() or n.version operator(pg_catalog.<) 130000 or not n.may then 'fail'
            when $2::pg_catalog.int8 operator(pg_catalog.>) 1000000 or n.version operator(pg_catalog.>=) 200000
              then 'warn' else 'ok' end as level,
       pg_catalog.concat('target ', $1::pg_catalog.text) as what, null::pg_catalog.json as tables,
       pg_catalog.concat('PostgreSQL ', pg_catalog.current_setting('server_version'), ', as role ', current_user,
         case when pg_catalog.pg_is_in_recovery() then ': a hot standby, which takes no writes'
              when n.version operator(pg_catalog.<) 130000 then ': 13 or later is needed'
              when not n.may then ', which may not create schema rowrelay_target there'
              when n.version operator(pg_catalog.>=) 200000
                then ': this version of rowrelay was tested with 13 to 19 only' end,
         case when $2::pg_catalog.int8 operator(pg_catalog.>) 1000000
                then '; its clock and this machine''s differ by more than a second' end) as meaning,
       case when pg_catalog.pg_is_in_recovery()
              then pg_catalog.concat('rowrelay target set ', $3::pg_catalog.text, ' --url URL')
            when not n.may then pg_catalog.format('ask an administrator there: grant create on database %I to %I',
                                                  pg_catalog.current_database(), current_user) end as command
  from (select case when s.oid is null
                    then pg_catalog.has_database_privilege(pg_catalog.current_database(), 'create')
                    else pg_catalog.has_schema_privilege(s.oid, 'usage') end as may,
               pg_catalog.current_setting('server_version_num')::pg_catalog.int4 as version
          from (select pg_catalog.to_regnamespace('rowrelay_target')::pg_catalog.oid as oid) as s) as n
union all
select 'warn', pg_catalog.concat('target ', $1::pg_catalog.text), null,
       pg_catalog.format('other roles may create functions in schema %1$s there, which role %2$s may then run with its '
                         'rights when it delivers', pg_catalog.string_agg(distinct g.name, ', '), current_user),
       pg_catalog.concat('there, in psql: ', pg_catalog.string_agg(distinct g.revoke, '; '))
  from (select pg_catalog.quote_ident(n.nspname) as name,
               pg_catalog.format('revoke create on schema %I from %s', n.nspname,
                                 coalesce(pg_catalog.quote_ident(r.rolname), 'public')) as revoke
          from pg_catalog.pg_namespace n
         cross join pg_catalog.aclexplode(n.nspacl) as a
          left join pg_catalog.pg_roles r on r.oid operator(pg_catalog.=) a.grantee
         where n.nspname operator(pg_catalog.=) any (pg_catalog.current_schemas(false))
           and a.privilege_type operator(pg_catalog.=) 'CREATE'
           and a.grantee operator(pg_catalog.<>) n.nspowner
           and (r.oid is null or not r.rolsuper and r.rolname operator(pg_catalog.<>) current_user)) as g
having pg_catalog.count(*) operator(pg_catalog.>) 0;
