-- What is to be known of an installation: what is captured, delivered, and by whom.
--   $1 oids of the tables that were asked for; $2 whether somebody named them
-- Gives finding: level, what, tables, meaning, command
select f.level as level, f.what as what, f.tables as tables, f.meaning as meaning, f.command as command
  from (
    select 1, case when c.note like 'triggers are missing%' or c.note like 'the server module cannot be loaded%'
                        or c.note like '%; to capture it again: %'
                   then 'fail' else 'warn' end, 'capture',
           json_agg(c.relation_name order by c.relation_name), split_part(c.note, '; to capture it again: ', 1),
           case when c.note like '%; to capture it again: %' then split_part(c.note, '; to capture it again: ', 2)
                when c.note like 'triggers are missing%'
                  then 'rowrelay capture ' || rowrelay.shell_word(min(c.relation_name))
                when c.note like 'the table was altered%' or c.note like 'the server module %'
                  then 'rowrelay run, which replaces it within half a minute'
                else 'rowrelay status --tables' end
      from rowrelay.captures c
     where c.note is not null
       and (not $2::bool or c.relation = any ($1::oid[])
            or exists (select from rowrelay.capture k, unnest($1::oid[]) as o
                        where k.relation = c.relation and k.released_at is null
                          and rowrelay.full_name(o) in (k.relation_name, k.chosen_name)))
     group by c.note
    union all
    select 1, 'fail', 'source', null,
           format('nothing is delivered from this database: it was %s since it delivered; if it is a copy, uninstall '
                  'rowrelay here', l.happened), 'rowrelay resume --here'
      from rowrelay.another_life() as l(happened) where l.happened is not null
    union all
    select 1, 'warn', 'server module', null, o.obstacle, 'in psql: ' || o.remedy
      from rowrelay.native_obstacle() as o where o.obstacle is not null
    union all
    select 1, 'ok', 'chain', json_agg(c.relation_name order by c.relation_name),
           'rowrelay delivers into this database, too; what it writes, to these tables or by their triggers, is not '
           'captured', 'rowrelay capture TABLE --capture-origin, where that is to go on to other targets'
      from rowrelay.captures c
     where not c.capture_origin and (not $2::bool or c.relation = any ($1::oid[]))
       and exists (select from pg_class f join pg_namespace n on n.oid = f.relnamespace
                    where n.nspname = 'rowrelay_target' and f.relname = 'fence')
    having count(*) > 0
    union all
    select 1, 'fail', 'subscription', null::json,
           'a logical replication subscription writes to tables of schema rowrelay; what it brings is captured here '
           'again, or fails where both have the same numbers',
           'leave the schema out of the publication, and move it by pg_dump'
     where exists (select from pg_subscription_rel s join pg_class k on k.oid = s.srrelid
                    where k.relnamespace = 'rowrelay'::regnamespace)
    union all
    select 1, 'warn', 'publication', null::json,
           format('%s: sent to a server that has rowrelay''s triggers, too, the tables of schema rowrelay and captured '
                  'tables meet there', string_agg(p.pubname, ', ' order by p.pubname)),
           'to move to another server, publish only tables of your own'
      from pg_publication p
     where p.pubname in (select t.pubname from pg_publication_tables t where t.schemaname = 'rowrelay')
    having count(*) > 0
    union all
    select 1, 'warn', 'rights to the log', null::json,
           format('%s may use rowrelay.change or its partitions, whatever tables each may read',
                  string_agg(distinct g.grantee, ', ')),
           format('in psql: revoke all on %s from %s', min(g.tables), min(g.grantee))
      from (select case a.grantee when 0 then 'public' else a.grantee::regrole::text end as grantee,
                   string_agg(distinct c.oid::regclass::text, ', ') as tables
              from pg_class c, aclexplode(c.relacl) as a
             where (c.oid = 'rowrelay.change'::regclass
                    or c.oid in (select i.inhrelid from pg_inherits i
                                  where i.inhparent = 'rowrelay.change'::regclass))
               and a.grantee <> c.relowner
               and a.grantee not in (select r.oid from pg_roles r
                                      where r.rolname in ('rowrelay_admin', 'rowrelay_worker'))
             group by a.grantee) as g
    having count(*) > 0
    union all
    select 2, 'warn', 'target ' || t.name, null::json,
           case when t.state = 'halted' then 'it is halted' || coalesce(': ' || t.reason, '')
                else 'it is ' || coalesce(t.reason, 'paused') end,
           'rowrelay target resume ' || rowrelay.shell_word(t.name)
      from rowrelay.targets t where t.state in ('halted', 'paused')
    union all
    select 3, 'warn', 'target ' || s.target, null, s.note, 'rowrelay status'
      from rowrelay.status s
     where s.state <> 'failing' -- which is told of when it has been tried to reach it
       and (s.note like '% waits since %'
            or exists (select from rowrelay.target t where t.name = s.target and t.may_differ is not null
                       and t.dropped_at is null))
    union all
    select 3, 'warn', 'backfill', json_agg(b.relation_name order by b.relation_name),
           format('rows from before may be missing at %s, because it ended: %s', b.target, b.note), min(b.start_again)
      from rowrelay.backfills b
     where b.start_again is not null and (not $2::bool or b.relation = any ($1::oid[]))
     group by b.target, b.note
    union all
    select 3, 'warn', 'backfill', json_agg(b.relation_name order by b.relation_name),
           format('it waits at %s: %s', b.target, b.note), 'rowrelay status'
      from rowrelay.backfills b
     where b.state = 'copying' and b.note is not null and (not $2::bool or b.relation = any ($1::oid[]))
     group by b.target, b.note
    union all
    select 3, 'warn', 'lost changes', json_agg(g.relation_name order by g.relation_name),
           format('%s lacks changes of tables whose triggers, or those of a new child or partition, were missing '
                  'or disabled for a while, that were replaced, whose columns were altered, or of which more is '
                  'captured now, or rows without a key since it or the source was restored', g.target),
           min(g.repair)
      from rowrelay.gaps g
     where not g.unfound and (not $2::bool or g.relation = any ($1::oid[]))
     group by g.target
    union all
    select 3, 'warn', 'different rows', json_agg(g.relation_name order by g.relation_name),
           format('%s differs: rows without a key that were to be changed or deleted there were not found',
                  g.target),
           min(g.repair)
      from rowrelay.gaps g
     where g.unfound and (not $2::bool or g.relation = any ($1::oid[]))
     group by g.target
    union all
    select 4, 'warn', 'refused', null, format('%s changes that targets refused are set aside', sum(s.errors)),
           'rowrelay errors'
      from rowrelay.status s having sum(s.errors) > 0
    union all
    select 5, case when n.alive > 0 then 'ok' else 'warn' end, 'processes',
           null, case when n.alive > 0 then n.alive || ' running' else 'no "rowrelay run" works here: nothing is '
                   'delivered, and no partitions are made ahead' end,
           case when n.alive = 0 then 'rowrelay run' end
      from (select count(*) filter (where i.state = 'running') as alive from rowrelay.instances i) as n
     where n.alive > 0 or exists (select from rowrelay.targets)
    union all
    select 6, 'warn', 'process', null,
           format('process %s on %s has said nothing for %s s, but its sessions are open: it may hold lanes', i.pid,
                  i.host, trunc(extract(epoch from now() - i.heartbeat_at))),
           format('kill -KILL %s', i.pid)
      from rowrelay.instances i where i.state = 'hung'
  ) as f (position, level, what, tables, meaning, command)
 order by f.position;
