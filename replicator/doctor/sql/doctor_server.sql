-- What is to be known of the server and of who asks. It reads only catalogs that everybody may read, and needs no
-- schema rowrelay.
--   $1 microseconds by which this machine's clock and the server's differ at least; $2 seconds after which an open
--   transaction is old
-- Gives finding: level, what, tables, meaning, command
with setting as (
  -- what a session of this role begins with: rowrelay's own have other values by now
  select s.name, s.reset_val as value, pg_catalog.current_setting('server_version_num')::int as version
    from pg_catalog.pg_settings s
), value as (
  select (select v.value from setting v where v.name = 'max_connections')::int as most,
         (select sum(v.value::int) from setting v
           where v.name in ('superuser_reserved_connections', 'reserved_connections')) as reserved,
         (select v.value from setting v where v.name = 'max_prepared_transactions')::int as prepared,
         (select v.value from setting v where v.name = 'max_locks_per_transaction')::int as locks
), usage as (
  select count(*) filter (where a.backend_type = 'client backend') as used,
         count(*) filter (where a.backend_type = 'client backend' and a.usename = current_user) as by_role,
         count(*) filter (where a.datname = current_database() and a.backend_type = 'client backend') as here
    from pg_catalog.pg_stat_activity a
), free as (
  select least(v.most - v.reserved - u.used,
               case when r.rolconnlimit >= 0 then r.rolconnlimit - u.by_role end,
               case when d.datconnlimit >= 0 then d.datconnlimit - u.here end) as connections
    from value v, usage u, pg_catalog.pg_roles r, pg_catalog.pg_database d
   where r.rolname = current_user and d.datname = current_database()
), held as (
  select a.pid, a.usename, a.application_name, a.state, clock_timestamp() - a.xact_start as age
    from pg_catalog.pg_stat_activity a
   where a.xact_start < clock_timestamp() - $2::int8 * interval '1 s' and a.pid <> pg_catalog.pg_backend_pid()
     and a.backend_type = 'client backend'
), prepared as (
  select p.gid, clock_timestamp() - p.prepared as age from pg_catalog.pg_prepared_xacts p
   where p.database = current_database() and p.prepared < clock_timestamp() - $2::int8 * interval '1 s'
), limits as (
  select string_agg(v.name || ' = ' || v.value || coalesce(s.unit, ''), ', ' order by v.name) as all
    from setting v join pg_catalog.pg_settings s on s.name = v.name
   where v.name in ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')
     and v.value <> '0'
)
select f.level as level, f.what as what, null::json as tables, f.meaning as meaning, f.command as command
  from (
    select 1, case when v.version < 130000 then 'fail' when v.version < 200000 then 'ok' else 'warn' end,
           'server version',
           'PostgreSQL ' || pg_catalog.current_setting('server_version')
             || case when v.version < 130000 then ': 13 or later is needed'
                     when v.version < 200000 then '; 13 to 19 will do, and logical decoding is not needed'
                     else ': this version of rowrelay was tested with 13 to 19 only' end,
           case when v.version < 130000 then 'upgrade the server'
                when v.version >= 200000 then 'use a newer version of rowrelay, or try this one on a copy first' end
      from setting v where v.name = 'server_version_num'
    union all
    select 2, case when pg_catalog.pg_is_in_recovery() then 'fail' else 'ok' end, 'primary',
           case when pg_catalog.pg_is_in_recovery() then 'this is a hot standby, where nothing can be captured'
                else 'the server takes writes' end,
           case when pg_catalog.pg_is_in_recovery() then 'connect to the primary: rowrelay doctor -d CONNINFO' end
    union all
    select 3, case when n.oid is null and not pg_catalog.has_database_privilege(current_database(), 'create')
                     or not pg_catalog.has_language_privilege('plpgsql', 'usage') then 'fail'
                   when r.rolsuper then 'warn' else 'ok' end, 'rights',
           case when not pg_catalog.has_language_privilege('plpgsql', 'usage')
                  then format('role %I may not use language plpgsql', current_user)
                when n.oid is not null
                  then format('schema rowrelay is there, and belongs to role %I%s', r.rolname,
                              case when r.rolsuper then ', a superuser: admins can run SQL as that role' else '' end)
                when not pg_catalog.has_database_privilege(current_database(), 'create')
                  then format('role %I may not create a schema here', current_user)
                when r.rolsuper then format('role %I would own schema rowrelay, and is a superuser: admins can run '
                                            'SQL as that role', current_user)
                else format('role %I may create schema rowrelay here', current_user) end,
           case when not pg_catalog.has_language_privilege('plpgsql', 'usage')
                  then format('ask an administrator: grant usage on language plpgsql to %I', current_user)
                when n.oid is not null and r.rolsuper then 'psql: alter schema rowrelay owner to ROLE, with all in it'
                when n.oid is not null then null
                when not pg_catalog.has_database_privilege(current_database(), 'create')
                  then format('ask an administrator: grant create on database %I to %I', current_database(),
                              current_user)
                when r.rolsuper then 'run "rowrelay init" as a role that owns the tables, and no superuser' end
      from pg_catalog.pg_roles r
      left join pg_catalog.pg_namespace n on n.nspname = 'rowrelay'
     where r.oid = coalesce(n.nspowner, (select u.oid from pg_catalog.pg_roles u where u.rolname = current_user))
    union all
    select 4, 'ok', 'roles',
           format('role %I may not create roles, so "rowrelay init --roles" cannot make %s', current_user, m.missing),
           'without --roles only the schema''s owner has rights; else ask an administrator: ' || m.statements
      from (select string_agg(w.name, ', ' order by w.name) as missing,
                   string_agg('create role ' || w.name, '; ' order by w.name) as statements
              from unnest('{rowrelay_admin,rowrelay_worker,rowrelay_reader}'::text[]) as w (name)
             where not exists (select from pg_catalog.pg_roles r where r.rolname = w.name)) as m
     where m.missing is not null
       and not (select r.rolcreaterole or r.rolsuper from pg_catalog.pg_roles r where r.rolname = current_user)
    union all
    select 5, case when c.off > 1000000 then 'warn' else 'ok' end, 'clock',
           case when c.off > 1000000
                then format('this machine''s clock and the server''s differ by %s s: times in logs will not match',
                            round(c.off / 1000000.0, 1))
                else 'this machine''s clock and the server''s agree within a second' end,
           case when c.off > 1000000 then 'timedatectl status, on both machines' end
      from (select $1::int8 as off) as c
    union all
    select 6, case when f.connections < 2 then 'fail' when f.connections < 10 then 'warn' else 'ok' end, 'connections',
           format('%s are free; "rowrelay run" takes up to three, and one for each worker of each target',
                  f.connections),
           case when f.connections < 10 then 'raise max_connections, or the limit of the role or database' end
      from free f
    union all
    select 7, case when c.capacity < 2 * c.needed then 'warn' else 'ok' end, 'lock table',
           format('it has room for %s locks; an upgrade or "rowrelay uninstall" takes some %s in one transaction',
                  c.capacity, c.needed),
           case when c.capacity < 2 * c.needed then 'raise max_locks_per_transaction' end
      from (select v.locks * (v.most + v.prepared) as capacity,
                   1500 + (select count(*) from pg_catalog.pg_class k join pg_catalog.pg_namespace n
                                on n.oid = k.relnamespace and n.nspname = 'rowrelay') as needed
              from value v) as c
    union all
    select 8, 'warn', 'doorbell',
           'max_prepared_transactions is above 0, so writers cannot notify: processes ask every 25 ms instead',
           'set max_prepared_transactions = 0 if nothing needs two-phase commit'
      from value v where v.prepared > 0
    union all
    select 8, 'warn', 'doorbell',
           format('the server''s queue of notifications is %s %% full, because a session that has run LISTEN stays '
                  'in a transaction: from 10 %% on writers do not notify, and processes ask once a second', n.full),
           'end it: select pid, datname from pg_stat_activity where state like ''idle in transaction%'' order by '
             'xact_start'
      from (select round(100 * pg_catalog.pg_notification_queue_usage()) as full) as n where n.full >= 5
    union all
    select 8, 'warn', 'pglogical',
           'a subscription writes to this server; its worker has no snapshot when it applies a TRUNCATE, so at the '
             'first one of a captured table it fails, again and again',
           'at the provider: select pglogical.alter_replication_set(''default'', replicate_truncate := false)'
      from pg_catalog.pg_extension e
     where e.extname = 'pglogical'
       and exists (select from pg_catalog.pg_replication_origin o where o.roname like 'pgl\_%')
    union all
    select 9, 'warn', 'synchronous_commit',
           'it is off by default for this role, database or server: a crash can lose commits that a target has already',
           'turn it on; or after a crash run: rowrelay verify TARGET --repair'
      from setting v where v.name = 'synchronous_commit' and v.value = 'off'
    union all
    select 10, 'warn', v.name,
           'it is off: a crash of the machine can damage or lose committed rows, whatever a target has',
           'turn it on and restart the server'
      from setting v where v.name in ('fsync', 'full_page_writes') and v.value = 'off'
    union all
    select 11, 'warn', 'track_counts', 'it is off: capturing a delete is slower, and vacuum does not run by itself',
           'turn it on'
      from setting v where v.name = 'track_counts' and v.value = 'off'
    union all
    select 12, 'warn', 'timeouts',
           l.all || ' for this role: rowrelay''s own sessions set what they need, but psql, where you may call its '
             'functions, obeys',
           'in psql first: set statement_timeout = 0; set lock_timeout = 0'
      from limits l where l.all is not null
    union all
    select 12, 'warn', 'rowrelay.skip',
           'nothing is captured of what is written by ' || string_agg(u.who, ', ' order by u.who)
             || ', for whom it is set by default',
           min(format('alter %s reset rowrelay.skip', u.place))
      from (select case when s.setrole <> 0
                        then concat_ws(' in database ', format('role %I', r.rolname), quote_ident(d.datname))
                        when s.setdatabase <> 0 then format('sessions of database %I', d.datname)
                        else 'everybody' end as who,
                   case when s.setrole = 0 and s.setdatabase <> 0 then format('database %I', d.datname)
                        else concat_ws(' in database ', 'role ' || coalesce(quote_ident(r.rolname), 'all'),
                                       quote_ident(d.datname)) end as place
              from pg_catalog.pg_db_role_setting s
              left join pg_catalog.pg_roles r on r.oid = s.setrole
              left join pg_catalog.pg_database d on d.oid = s.setdatabase
             where (s.setdatabase = 0 or d.datname = current_database())
               and exists (select from unnest(s.setconfig) as c(line)
                            where lower(split_part(c.line, '=', 1)) = 'rowrelay.skip'
                              and lower(split_part(c.line, '=', 2))
                                    = any ('{1,on,t,tr,tru,true,y,ye,yes}'))) as u
    having count(*) > 0
    union all
    select 13, 'warn', 'encoding', 'SQL_ASCII: what bytes mean is unknown, and they are taken for UTF-8',
           'expect rows that are no UTF-8 in: rowrelay errors'
     where pg_catalog.getdatabaseencoding() = 'SQL_ASCII'
    union all
    select 14, 'warn', 'event trigger',
           string_agg(quote_ident(e.evtname), ', ') || ': runs at each DDL statement, also of "rowrelay init", '
             '"capture" and the daily partitions, and can refuse it',
           'read what it does: psql -c ''\dy+'''
      from pg_catalog.pg_event_trigger e where e.evtenabled <> 'D' having count(*) > 0
    union all
    select 15, 'warn', 'open transactions',
           string_agg(format('process %s (%s%s) since %s', h.pid, h.usename,
                             coalesce(', ' || nullif(h.application_name, ''), ''),
                             pg_catalog.to_char(h.age, 'FMDDD "d" HH24:MI')), ', ' order by h.age desc)
             || ': vacuum cannot remove rows meanwhile, and capture waits for those that have written to its table',
           'end it: select pg_terminate_backend(' || min(h.pid) || ')'
      from held h having count(*) > 0
    union all
    select 16, 'warn', 'prepared transactions',
           string_agg(format('%L', p.gid), ', ') || ': open for long; they keep their locks, also over '
             'a restart, and vacuum waits for them',
           format('commit prepared %1$L, or: rollback prepared %1$L', min(p.gid))
      from prepared p having count(*) > 0
    union all
    select 17, 'ok', 'open transactions',
           case when pg_catalog.pg_has_role('pg_read_all_stats', 'usage')
                  then format('none is older than %s s', $2::int8)
                else 'those of other roles cannot be seen; grant pg_read_all_stats to see them' end, null
     where not exists (select from held)
  ) as f (position, level, what, meaning, command)
 order by f.position;
