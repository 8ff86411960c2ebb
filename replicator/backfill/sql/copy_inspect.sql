-- Whether a table of the target can be filled by COPY with the same outcome as if each row came as a change. It reads
-- the target's catalogs, and gives the reason why not, null when it can; the columns to copy, a JSON array; and three
-- statements: one that keeps others from writing to the table, one that gives a row when it is not empty, and the COPY.
--   $1 table  $2 columns that come, as rowrelay.copy_columns() gives them  $3 names of the key's columns, JSON array
-- Gives look: problem, names, lock, probe, copy
with recursive target as (
  select c.oid, c.relkind, quote_ident(n.nspname) || '.' || quote_ident(c.relname) as name
    from (select to_regclass($1) as oid) as wanted
    left join pg_class c on c.oid = wanted.oid
    left join pg_namespace n on n.oid = c.relnamespace
), own as (
  select a.attname, a.attgenerated = '' as is_writable, a.atttypid as type, 0 as depth
    from target t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
  union all
  -- a domain is what it is made of
  select o.attname, o.is_writable, y.typbasetype, o.depth + 1
    from own o join pg_type y on y.oid = o.type and y.typtype = 'd'
), base as (
  select distinct on (o.attname) o.attname, o.is_writable, n.nspname || '.' || y.typname as type
    from own o join pg_type y on y.oid = o.type join pg_namespace n on n.oid = y.typnamespace
   order by o.attname, o.depth desc
), alike(types) as (
  -- texts of the one are texts of the other
  values ('{pg_catalog.int2,pg_catalog.int4,pg_catalog.int8,pg_catalog.numeric,pg_catalog.float4,
            pg_catalog.float8}'::text[]),
         ('{pg_catalog.text,pg_catalog.varchar,pg_catalog.bpchar}'), ('{pg_catalog.json,pg_catalog.jsonb}')
), came as (
  select j.name, j.plain, j.position, b.attname is not null as is_known, b.is_writable,
         j.type = b.type
         or exists (select from alike a where j.type = any (a.types) and b.type = any (a.types)) as is_alike
    from rows from (json_to_recordset($2::json) as (name text, type text, plain boolean)) with ordinality
           as j(name, type, plain, position)
    left join base b on b.attname = j.name
), lists as (
  select json_agg(c.name order by c.position) filter (where c.is_writable) as names,
         string_agg(format('%I', c.name), ', ' order by c.position) filter (where c.is_writable) as columns,
         min(format('%I', c.name)) filter (where not c.is_known) as missing,
         min(format('%I', c.name)) filter (where c.is_writable and not (c.is_alike and c.plain)) as unlike
    from came c
)
select case
         when t.oid is null then format('table %s does not exist in the target', $1)
         when t.relkind not in ('r', 'p') then format('%s is not a table in the target', $1)
         when l.missing is not null then format('table %s in the target has no column %s', $1, l.missing)
         when l.unlike is not null then format('column %s of table %s in the target has another type', l.unlike, $1)
         when l.names is null then format('table %s has no columns', $1)
         when json_array_length($3::json) > 0 and not exists (
                select from pg_index i
                 where i.indrelid = t.oid and i.indisunique and i.indisvalid and i.indimmediate
                   and i.indpred is null and i.indexprs is null
                   and (select array_agg(k order by k) from json_array_elements_text($3::json) as k)
                       = (select array_agg(a.attname::text order by a.attname::text)
                            from unnest(i.indkey::smallint[]) with ordinality as u(n, position)
                            join pg_attribute a on a.attrelid = t.oid and a.attnum = u.n
                           where u.position <= i.indnkeyatts))
           then format('table %s in the target has no unique index on the key', $1)
       end as problem,
       l.names,
       format('lock table %s in share row exclusive mode', t.name) as lock,
       format('select from %s limit 1', t.name) as probe,
       format('copy %s (%s) from stdin', t.name, l.columns) as copy
  from target t, lists l;
