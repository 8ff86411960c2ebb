-- Sets what a session needs, whatever its role, database and server have as defaults. Each value stands here once, with
-- the kinds of session that need it; a setting that the server does not know is left out, but for our own.
--   $1 kind: work (of a running process, at the source), command, copy (reads a whole table of the source), verify (at
--      both
--      sides) or target; the sessions of a copy, and of verify at the source, were those of a command before
with own(path) as materialized (
  select pg_catalog.current_setting('search_path')
), trusted(role) as (
  -- a superuser may do anything without us; this user asks; pg_database_owner has one member
  select r.oid from pg_catalog.pg_roles r where r.rolsuper or r.rolname operator(pg_catalog.=) current_user
  union
  select o.oid
    from pg_catalog.pg_roles o, pg_catalog.pg_database d
    join pg_catalog.pg_roles r on r.oid operator(pg_catalog.=) d.datdba
   where o.rolname operator(pg_catalog.=) 'pg_database_owner' and d.datname operator(pg_catalog.=) current_catalog
     and (r.rolsuper or r.rolname operator(pg_catalog.=) current_user)
), looked(oid, nspname, nspowner, nspacl, place) as materialized (
  select n.oid, n.nspname, n.nspowner, n.nspacl, u.place
    from pg_catalog.unnest(pg_catalog.current_schemas(false)) with ordinality as u(name, place)
    join pg_catalog.pg_namespace n on n.nspname operator(pg_catalog.=) u.name
   where n.nspname operator(pg_catalog.!~) '^pg_'
), safe(path) as (
  -- The schemas of the user's search_path in which no other role may create functions, nor has an operator, or a
  -- function with a name of the server's own: our statements mean the same with them, and print tables by short names.
  select pg_catalog.concat_ws(', ', 'pg_catalog',
           pg_catalog.string_agg(pg_catalog.quote_ident(n.nspname), ', ' order by n.place), 'pg_temp')
    from looked n
   where not exists (
       select n.nspowner
       union all
       select a.grantee from pg_catalog.aclexplode(n.nspacl) as a
        where a.privilege_type operator(pg_catalog.=) 'CREATE'
       union all
       select o.oprowner from pg_catalog.pg_operator o where o.oprnamespace operator(pg_catalog.=) n.oid
       union all
       select p.proowner
         from pg_catalog.pg_proc p
         join pg_catalog.pg_proc o on o.proname operator(pg_catalog.=) p.proname
        where p.pronamespace operator(pg_catalog.=) n.oid
          and o.pronamespace operator(pg_catalog.=) pg_catalog.to_regnamespace('pg_catalog')
       except
       select t.role from trusted t)
)
select pg_catalog.set_config(coalesce(s.name, w.name),
         coalesce(w.value, case w.name when 'search_path' then (select safe.path from safe) else own.path end), false)
  from own
 cross join (values
    -- What the texts of statements, values and names mean. A command's values are as a person writes and reads them.
    ('standard_conforming_strings', 'on', '{work,command,copy,verify,target}'),
    -- Names are those of the server and ours alone; a command, whose names people read, has schemas besides that are
    -- safe. Where a user's own text is read, its names are looked up where they were before: rowrelay.names_path().
    ('rowrelay.search_path', null, '{command}'),
    ('search_path', null, '{command}'),
    ('search_path', 'pg_catalog, pg_temp', '{work,copy,verify}'),
    ('datestyle', 'ISO, MDY', '{work,copy,verify,target}'),
    ('intervalstyle', 'postgres', '{work,copy,verify,target}'),
    ('timezone', 'UTC', '{work,copy,verify,target}'),
    ('lc_monetary', 'C', '{work,copy,verify,target}'),
    ('extra_float_digits', '1', '{work,copy,verify,target}'),
    ('bytea_output', 'hex', '{work,copy,verify,target}'),
    ('array_nulls', 'on', '{work,command,copy,verify,target}'),
    ('xmloption', 'content', '{work,copy,verify,target}'),
    ('quote_all_identifiers', 'off', '{work,copy,verify,target}'),

    -- Who reads what our functions say to do: rowrelay.command().
    ('rowrelay.shell', 'on', '{work,command}'),

    -- What may be read and written. Rows that a policy hides must be an error, not missing. A claim's second statement
    -- must see what was committed since its first. A crash of the source may lose what is written besides claims, so
    -- those commits need not wait for the disk; settle.c turns waiting on where they must.
    ('default_transaction_isolation', 'read committed', '{work,command,copy,verify,target}'),
    ('default_transaction_read_only', 'off', '{work,command,copy,target}'),
    ('default_transaction_read_only', 'on', '{verify}'),
    ('row_security', 'off', '{copy,verify,target}'),
    ('synchronous_commit', 'off', '{work}'),

    -- No time limits but our own: the client cancels its statements; target_session.sql limits those at a target.
    ('statement_timeout', '0', '{work,command,copy,verify}'),
    ('lock_timeout', '0', '{command}'),
    ('lock_timeout', '100ms', '{copy}'),
    ('lock_timeout', '30s', '{work,verify,target}'),
    ('idle_in_transaction_session_timeout', '0', '{command,copy,verify}'),
    ('transaction_timeout', '0', '{work,command,copy,verify,target}'),
    ('idle_session_timeout', '0', '{work,command,copy,verify,target}'),

    -- The locks of a machine that died are soon released, and a killed process leaves no statement running.
    ('tcp_keepalives_idle', '15', '{work,command,copy,verify,target}'),
    ('tcp_keepalives_interval', '5', '{work,command,copy,verify,target}'),
    ('tcp_keepalives_count', '3', '{work,command,copy,verify,target}'),
    ('tcp_user_timeout', '30s', '{work,target}'),
    ('tcp_user_timeout', '120s', '{command}'),
    ('client_connection_check_interval', '1s', '{work,verify}'),

    -- Plans. The queue is empty at one moment and has millions of rows at the next, and the planner's statistics show
    -- neither: all statements of work go through an index, row by row, so other plans are ruled out.
    -- (document_begin.sql and targets/postgres.c let users' own statements be planned freely, then restore these.)
    ('plan_cache_mode', 'force_generic_plan', '{work}'),
    ('plan_cache_mode', 'auto', '{verify}'),
    ('enable_seqscan', 'off', '{work}'),
    ('enable_bitmapscan', 'off', '{work}'),
    ('enable_hashjoin', 'off', '{work}'),
    ('enable_mergejoin', 'off', '{work}'),
    ('max_parallel_workers_per_gather', '0', '{verify}'),
    -- Compiling what reads the state of many targets takes longer than running it.
    ('jit', 'off', '{work,command,verify,target}')
  ) as w(name, value, sessions)
  left join pg_catalog.pg_settings s on pg_catalog.lower(s.name) operator(pg_catalog.=) w.name
 where $1::text operator(pg_catalog.=) any (w.sessions::pg_catalog.text[])
   and (s.name is not null or w.name operator(pg_catalog.~) '^rowrelay[.]')
   -- other systems refuse it
   and (w.name operator(pg_catalog.<>) 'client_connection_check_interval'
        or pg_catalog.version() operator(pg_catalog.~) 'linux');
