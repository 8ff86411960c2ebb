-- What is to be known of tables before they are captured, a row for each problem. It reads only catalogs.
--   $1 oids of the tables; $2 whether somebody named them; $3 seconds after which an open transaction is old
-- Gives finding: level, what, tables, meaning, command
with recursive keeper as ( -- who captures
  select r.oid, r.rolname, r.rolbypassrls or r.rolsuper as sees_all
    from pg_catalog.pg_roles r
   where r.oid = coalesce((select n.nspowner from pg_catalog.pg_namespace n where n.nspname = 'rowrelay'),
                          (select u.oid from pg_catalog.pg_roles u where u.rolname = current_user))
), chosen as (
  select c.*, n.name, n.quoted, -- in a shell
         case when n.name ~ '[^A-Za-z0-9_./:@%+=,]' then '''' || n.quoted || '''' else n.name end as word
    from pg_catalog.pg_class c
    cross join lateral (select c.oid::pg_catalog.regclass::text,
                               replace(c.oid::pg_catalog.regclass::text, '''', E'''\\''''')) as n(name, quoted)
   where c.oid = any ($1::oid[])
), member (root, oid) as ( -- with their partitions and children
  select c.oid, c.oid from chosen c
  union
  select m.root, i.inhrelid from member m join pg_catalog.pg_inherits i on i.inhparent = m.oid
), part as (
  select c.*, m.root from member m join pg_catalog.pg_class c on c.oid = m.oid and c.relkind in ('r', 'p')
), unique_index as (
  select i.indrelid, bool_or(i.indisprimary or k.not_null) as is_key,
         min(k.nullable) filter (where not k.not_null) as nullable
    from pg_catalog.pg_index i
    cross join lateral (
      select bool_and(a.attnotnull) as not_null,
             string_agg(format('alter column %I set not null', a.attname), ', ' order by n.place)
               filter (where not a.attnotnull) as nullable
        from unnest(i.indkey[0:i.indnkeyatts - 1]) with ordinality as n (number, place)
        join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = n.number) as k
   where i.indrelid = any ($1::oid[]) and i.indisunique and i.indisvalid and i.indimmediate
     and i.indpred is null and i.indexprs is null
   group by i.indrelid
), own_trigger as (
  select t.*, p.prosrc, pt.root, pt.relname
    from pg_catalog.pg_trigger t
    join part pt on pt.oid = t.tgrelid
    join pg_catalog.pg_proc p on p.oid = t.tgfoid
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace and n.nspname not in ('rowrelay', 'pg_catalog')
   where not t.tgisinternal
), column_type as (
  select a.attrelid, a.attname, t.oid as type, t.typcategory,
         case when t.typtype = 'd' then t.typbasetype when t.typcategory = 'A' and t.typelem <> 0 then t.typelem
              else t.oid end as base
    from chosen c
    join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    join pg_catalog.pg_type t on t.oid = a.atttypid
), problem (position, level, what, relation, meaning, command) as (
  select 1, case when $2::bool then 'fail' else 'warn' end, 'owner', c.oid,
         format('role %I, which captures, neither owns them nor is a member of their owner', k.rolname),
         case when o.rolsuper then format('ask an administrator: alter table %s owner to %I', c.name, k.rolname)
              else format('ask an administrator: grant %I to %I', o.rolname, k.rolname) end
    from keeper k, chosen c join pg_catalog.pg_roles o on o.oid = c.relowner
   where not pg_catalog.pg_has_role(k.oid, c.relowner, 'usage')
  union all
  select 2, 'warn', 'no key', c.oid,
         case when u.nullable is null then 'without a primary key or unique index: a mirror compares whole rows, which '
           'reads its table for each batch, and they can only be copied as a whole'
         else 'their unique index allows nulls, so it is no key: a mirror compares whole rows' end,
         format('alter table %s %s', c.name, coalesce(u.nullable, 'add primary key (COLUMNS)'))
    from chosen c left join unique_index u on u.indrelid = c.oid
   where u.is_key is not true
  union all
  select 3, 'warn', 'inheritance', c.oid,
         'other tables inherit from them, and may have rows with the same keys: "rowrelay capture" refuses them then',
         format('rowrelay capture %s --key ""', c.word)
    from chosen c
   where c.relkind = 'r' and exists (select from pg_catalog.pg_inherits i where i.inhparent = c.oid)
  union all
  select 4, 'warn', 'nested writes', c.oid,
         'triggers write to their own table again: captured in the right order, but slower, and "rowrelay undo" '
           'refuses such rows',
         format('read them: psql -c ''\d %s''', c.quoted)
    from chosen c
   where exists (select from own_trigger t
                  where t.root = c.oid
                    and t.prosrc ~* format(E'\\y(insert\\s+into|update|delete\\s+from|merge\\s+into)\\s+(only\\s+)?'
                                           '("?\\w+"?\\s*\\.\\s*)?"?%s"?(\\s|;|$)',
                                           regexp_replace(c.relname, E'(\\W)', E'\\\\\\1', 'g')))
  union all
  select 5, 'warn', 'replica triggers', c.oid,
         'triggers that also fire when session_replication_role is replica: so do rowrelay''s, and what both write is '
           'captured',
         format('read them: psql -c ''\d %s''', c.quoted)
    from chosen c
   where exists (select from own_trigger t where t.root = c.oid and t.tgenabled in ('R', 'A'))
  union all
  select 6, 'warn', 'subscription', c.oid,
         'a logical replication subscription writes to them: that is captured too, so do not send it back',
         'read it: psql -c ''\dRs+'''
    from chosen c
   where exists (select from pg_catalog.pg_subscription_rel s join part p on p.oid = s.srrelid where p.root = c.oid)
  union all
  select 7, 'warn', 'row-level security', c.oid,
         format('it is forced, so role %I cannot read them: nested writes may be captured in the wrong order',
                k.rolname),
         format('ask an administrator: alter role %I bypassrls; or: alter table %s no force row level security',
                k.rolname, c.name)
    from chosen c, keeper k
   where not k.sees_all and exists (select from part p where p.root = c.oid and p.relforcerowsecurity)
  union all
  select 8, 'warn', 'unlogged', c.oid,
         'a crash of the server empties them without firing triggers; a mirror keeps the rows',
         'after a crash: rowrelay verify TARGET --repair'
    from chosen c where exists (select from part p where p.root = c.oid and p.relpersistence = 'u')
  union all
  select 8, 'warn', 'foreign tables', c.oid,
         'foreign tables belong to them: what is written at their own servers is not captured'
           || case when current_setting('server_version_num')::int >= 160000 then ''
                   when c.relkind = 'p' then ', nor is TRUNCATE of one of them alone'
                   else ', nor is their TRUNCATE' end,
         'after such a change: rowrelay verify TARGET --repair; or without a key: empty it there, and rowrelay backfill'
    from chosen c
   where exists (select from member m join pg_catalog.pg_foreign_table f on f.ftrelid = m.oid where m.root = c.oid)
  union all
  select 9, 'warn', 'slow columns', c.oid,
         'columns of json, array or user-defined types make each captured row cost some microseconds more',
         format('leave out what no target needs: rowrelay capture %s --exclude %s', c.word,
                (select case when s.list ~ '"' then '''' || replace(s.list, '''', E'''\\''''') || '''' else s.list end
                   from (select string_agg(format('%I', t.attname), ',' order by t.attname) from column_type t
                          where t.attrelid = c.oid and (t.base >= 16384 or t.type = 114 or t.typcategory = 'A'))
                     as s(list)))
    from chosen c
   where exists (select from column_type t
                  where t.attrelid = c.oid and (t.base >= 16384 or t.type = 114 or t.typcategory = 'A'))
     -- to a table that is captured the option would give this list in place of the one that it has
     and not exists (select from pg_catalog.pg_trigger t where t.tgrelid = c.oid and starts_with(t.tgname, '!rowrelay'))
  union all
  select 10, 'warn', 'locked', c.oid,
         'an old transaction has locked them: "rowrelay capture" waits until it ends, others do not',
         format('who it is: select pid, query from pg_stat_activity where pid = %s', min(l.pid))
    from chosen c
    join part p on p.root = c.oid
    join pg_catalog.pg_locks l on l.locktype = 'relation' and l.relation = p.oid and l.granted
     and l.database = (select d.oid from pg_catalog.pg_database d where d.datname = current_database())
     and l.mode not in ('AccessShareLock', 'RowShareLock')
    join pg_catalog.pg_stat_activity a on a.pid = l.pid and a.xact_start < clock_timestamp() - $3::int8 * interval '1 s'
     and a.backend_type = 'client backend'
   group by c.oid
)
select f.level as level, f.what as what, f.tables as tables, f.meaning as meaning, f.command as command
  from (
    select min(p.position) as position, p.level, p.what,
           json_agg(c.name order by c.name) as tables, p.meaning, min(p.command) as command
      from problem p join chosen c on c.oid = p.relation
     group by p.level, p.what, p.meaning
    union all
    select 0, 'ok', 'tables',  null, format('%s looked at, nothing to say about %s', count(*),
           count(*) filter (where not exists (select from problem p where p.relation = c.oid))), null
      from chosen c
  ) as f
 order by f.position, f.meaning;
