-- The statements that make two scratch tables like a table, and those that write rows to one of them. All of it comes
-- of the catalogs: the table is not touched. A value is made of the row's number n, so that keys differ.
--   $1 oid of the table
-- Gives doctor_scratch: table_name, create_tables, insert_bare, insert_captured, update_bare, update_captured, columns,
--   width
with recursive base (attnum, type, typmod, depth) as ( -- a domain's CHECKs would refuse what is made up
  select a.attnum, a.atttypid, a.atttypmod, 0
    from pg_catalog.pg_attribute a
   where a.attrelid = $1::oid and a.attnum > 0 and not a.attisdropped
  union all
  select b.attnum, t.typbasetype, t.typtypmod, b.depth + 1
    from base b join pg_catalog.pg_type t on t.oid = b.type and t.typtype = 'd'
), stored as (
  select distinct on (b.attnum) b.attnum, b.type, b.typmod from base b order by b.attnum, b.depth desc
), key_column as (
  select n.number, n.place
    from (select i.indkey, i.indnkeyatts from pg_catalog.pg_index i
           where i.indrelid = $1::oid and i.indisunique and i.indisvalid and i.indimmediate
             and i.indpred is null and i.indexprs is null
           order by i.indisprimary desc, i.indexrelid limit 1) as i
    cross join unnest(i.indkey[0:i.indnkeyatts - 1]) with ordinality as n (number, place)
), c as (
  select a.attnum, format('%I', a.attname) as name, pg_catalog.format_type(s.type, s.typmod) as type,
         k.place as key_place, coalesce(nullif(w.avg_width, 0), 16) as width,
         case when s.typmod > 4 and s.type in (1042, 1043) then s.typmod - 4 else 1000 end as longest,
         t.typcategory as category, t.oid as base, t.typtype as kind,
         (select format('%L', min(e.enumlabel)) from pg_catalog.pg_enum e where e.enumtypid = t.oid) as label
    from stored s
    join pg_catalog.pg_attribute a on a.attrelid = $1::oid and a.attnum = s.attnum
    join pg_catalog.pg_type t on t.oid = s.type
    join pg_catalog.pg_class r on r.oid = a.attrelid
    join pg_catalog.pg_namespace n on n.oid = r.relnamespace
    left join pg_catalog.pg_stats w on w.schemaname = n.nspname and w.tablename = r.relname
                                   and w.attname = a.attname and not w.inherited
    left join key_column k on k.number = a.attnum
), valued as (
  select c.*,
         case when c.base in (20, 21, 23, 1700, 26) then format('(n %% 32000)::pg_catalog.%s',
                case c.base when 20 then 'int8' when 21 then 'int2' when 23 then 'int4' when 26 then 'oid'
                  else 'numeric' end)
              when c.base in (700, 701) then '(n / 8.0)'
              when c.base in (25, 1042, 1043, 19) then format('pg_catalog.rpad(n::text, %s, ''x'')::%s',
                                                     least(c.width, c.longest), c.type)
              when c.base = 2950 then 'pg_catalog.md5(n::text)::uuid'
              when c.base = 16 then 'true'
              when c.base = 17 then format('pg_catalog.decode(pg_catalog.repeat(''61'', %s), ''hex'')', c.width)
              when c.base in (114, 3802) then format('pg_catalog.json_build_object(''n'', pg_catalog.repeat(''x'', '
                                                     '%s))::%s', c.width, c.type)
              when c.category = 'D' and c.base in (1082, 1114, 1184)
                then format('(timestamptz ''2026-01-01 00:00+00'' + n * interval ''1 day'')::%s', c.type)
              when c.kind = 'e' then c.label || '::' || c.type
              when c.category = 'A' then format('''{}''::%s', c.type)
              else format('null::%s', c.type) end as value
    from c
)
select $1::oid::regclass::text as table_name,
       format('create table rowrelay_doctor.bare (%1$s%2$s); create table rowrelay_doctor.captured (%1$s%2$s)',
              m.columns, ', primary key (' || m.key || ')') as create_tables,
       format('insert into rowrelay_doctor.bare %s', m.made_up) as insert_bare,
       format('insert into rowrelay_doctor.captured %s', m.made_up) as insert_captured,
       format('update rowrelay_doctor.bare set %s where true', m.changed) as update_bare,
       format('update rowrelay_doctor.captured set %s where true', m.changed) as update_captured,
       m.n as columns, m.width as width
  from (select string_agg(v.name || ' ' || v.type, ', ' order by v.attnum) as columns,
               string_agg(v.name, ', ' order by v.key_place) filter (where v.key_place is not null) as key,
               format('select %s from generate_series($1::int8, $2::int8) as n',
                      string_agg(v.value, ', ' order by v.attnum)) as made_up,
               format('%1$s = %1$s', coalesce(min(v.name) filter (where v.key_place is null), min(v.name))) as changed,
               count(*)::int as n, sum(v.width)::int as width
          from valued v) as m;
