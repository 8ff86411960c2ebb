-- How a table is compared with its source: what is compared for each column on either side, and in which order rows can
-- be read. Gives columns of the key that the target lacks; other columns that it lacks; whether rows can be read in
-- ranges of the key; names of the columns that are compared; and a JSON document for each side, for
-- verify_statements.sql.
--   $1 document of verify_source.sql or verify_document.sql  $2 full name of the table here
-- Gives compared: key_missing, missing, in_ranges, names, source_plan, target_plan
with doc as (
  select $1::json as doc, to_regclass($2) as relation
), source_column as (
  select c.*
    from doc d, json_to_recordset(d.doc -> 'columns')
                  as c(name text, type text, key_type text, category text, as_text text, as_json text,
                       unchecked_type text, is_masked boolean, mask json, key_position integer, sorts text)
), attribute as (
  select s.*, a.attnum, a.attgenerated, a.attnotnull, a.attcollation, b.oid as base, b.typcategory as own_category,
         a.atttypid as own_oid, format_type(a.atttypid, a.atttypmod) as own_type, format_type(b.oid, -1) as own_key_type
    from doc d
    cross join source_column s
    left join pg_attribute a on a.attrelid = d.relation and a.attname = s.name and a.attnum > 0 and not a.attisdropped
    left join lateral (
      with recursive part as (
        select t.oid, t.typtype, t.typbasetype from pg_type t where t.oid = a.atttypid
        union all
        select t.oid, t.typtype, t.typbasetype from part p join pg_type t on p.typtype = 'd' and t.oid = p.typbasetype
      )
      select p.oid from part p where p.typtype <> 'd') as base(oid) on true
    left join pg_type b on b.oid = base.oid
), compared as (
  -- Texts are made by the types' output functions: a cast would be the code of who owns a type. The source made as_text
  -- and as_json likewise.
  select a.*,
         case
           when a.is_masked and a.base in ('json'::regtype, 'jsonb'::regtype) then format('%L::%s', a.mask, a.own_type)
           when a.is_masked and a.own_oid < 10000 then format('(%L::json #>> ''{}'')::%s', a.mask, a.own_type)
           when a.is_masked then format('%L', a.mask #>> '{}')
           -- numeric keeps its zeros, and the mirror those of the key's first row
           when a.type = a.own_type and a.base = 'numeric'::regtype and a.key_position is not null
             then format('trim_scale(new.%I)', a.name)
           when a.type = a.own_type then a.as_text
           -- else as the value arrives here: as JSON, or the text in it, read by the type it has here
           when a.base in ('json'::regtype, 'jsonb'::regtype)
             then format('to_json(%s)::text::%s', a.as_json, a.own_type)
           when a.own_category in ('A', 'C') and a.category in ('A', 'C')
             -- or a type of which the source may know nothing
             then format(case when a.own_oid < 10000 then '(%s)::%s' else '%s' end, a.as_text, a.own_type)
           when a.own_oid < 10000 then format('(to_json(%s) #>> ''{}'')::%s', a.as_json, a.own_type)
           else format('to_json(%s) #>> ''{}''', a.as_json)
         end as source_value,
         case
           when a.type = a.own_type and a.base = 'numeric'::regtype and a.key_position is not null
             then format('trim_scale(new.%I)', a.name)
           when a.base < 16384 and (a.type = a.own_type or a.is_masked or a.own_oid < 10000
                                    or a.base in ('json'::regtype, 'jsonb'::regtype))
             then format('new.%I', a.name)
           when a.type = a.own_type or a.is_masked
             or a.base >= 16384 and (a.own_category not in ('A', 'C') or a.category in ('A', 'C'))
             then format('case when new.%1$I is distinct from null then concat(new.%1$I) end', a.name)
           else format('to_json(new.%I) #>> ''{}''', a.name)
         end as target_value
    from attribute a
   where a.attnum is not null and a.attgenerated = ''
), usable_index as (
  select (select json_agg(a.attname order by u.position)
            from unnest(i.indkey::smallint[]) with ordinality as u(n, position)
            join pg_attribute a on a.attrelid = i.indrelid and a.attnum = u.n
           where u.position <= (d.doc ->> 'key_size')::integer)::text as names
    from doc d
    join pg_index i on i.indrelid = d.relation and i.indisvalid and i.indpred is null
    join pg_class k on k.oid = i.indexrelid
    join pg_am m on m.oid = k.relam and m.amname = 'btree'
   where i.indnkeyatts >= (d.doc ->> 'key_size')::integer
     and not exists (select from generate_series(0, (d.doc ->> 'key_size')::integer - 1) as n
                      where i.indoption[n] <> 0
                         or not (select o.opcdefault from pg_opclass o where o.oid = i.indclass[n]))
), key_sorts as (
  -- the same question that verify_source.sql asks
  select a.name, a.sorts is not null and a.sorts = s.sorts as alike
    from attribute a
    left join lateral (
      select concat_ws(' ',
               case when a.attcollation = 0 then format_type(a.base, -1)
                    when a.base in ('text'::regtype, 'varchar'::regtype) then 'text'
                    else format_type(a.base, -1) end,
               case when a.attcollation = 0 or l.locale in ('C', 'POSIX') then null
                    else concat_ws(' ', l.provider, l.locale, l.version) end,
               -- and the bytes that stand for a letter
               case when a.attcollation <> 0 then replace(getdatabaseencoding(), 'SQL_ASCII', 'UTF8') end) as sorts
        from (select case k.collprovider when 'd' then coalesce(to_jsonb(d) ->> 'datlocprovider', 'c')
                                         else k.collprovider::text end as provider,
                     case k.collprovider
                       when 'd' then coalesce(to_jsonb(d) ->> 'datlocale', to_jsonb(d) ->> 'daticulocale', d.datcollate)
                       else coalesce(to_jsonb(k) ->> 'colllocale', to_jsonb(k) ->> 'colliculocale', k.collcollate) end
                         as locale,
                     case when k.collprovider <> 'd' then pg_collation_actual_version(k.oid) end as version,
                     coalesce(k.collisdeterministic, true) as is_deterministic
                from pg_database d
                left join pg_collation k on k.oid = a.attcollation
               where d.datname = current_database()) as l
       where a.attnotnull and l.is_deterministic) as s on true
   where a.key_position is not null
), chosen as (
  select coalesce((select o.value
            from doc d, json_array_elements(d.doc -> 'orders') with ordinality as o(value, position)
           where (select bool_and(k.alike) from key_sorts k)
             and exists (select from usable_index i where i.names = o.value::text)
           order by o.position limit 1),
         -- the keys of documents are read from another table, in whatever order
         (select d.doc -> 'orders' -> 0 from doc d where d.doc -> 'document' is not null)) as names
), side as (
  select d.doc ->> 'relation' as relation, d.doc ->> 'filter' as filter, true as is_source from doc d
  union all
  select $2, null, false
)
select (select string_agg(format('%I', a.name), ', ') from attribute a
         where a.attnum is null and a.key_position is not null) as key_missing,
       (select string_agg(format('%I', a.name), ', ') from attribute a
         where a.attnum is null and a.key_position is null) as missing,
       (select c.names is not null from chosen c) as in_ranges,
       (select coalesce(json_agg(c.name order by c.name collate "C"), '[]') from compared c
        having count(*) > 0 or not exists (select from source_column)) as names,
       p.source_plan,
       p.target_plan
  from (select max(plan::text) filter (where s.is_source) as source_plan,
               max(plan::text) filter (where not s.is_source) as target_plan
          from side s, doc d, chosen o
          cross join lateral (select json_build_object(
            'relation', s.relation,
            'filter', s.filter,
            'capture', case when s.is_source then d.doc -> 'capture' end,
            'target', case when s.is_source then d.doc -> 'target' end,
            'document', case when s.is_source then d.doc -> 'document' end,
            'key_text', case when s.is_source then d.doc -> 'key_text' end,
            'row_hash', case when s.is_source then d.doc -> 'row_hash' end,
            'columns', (select coalesce(json_agg(json_build_object(
                                 'value', case when s.is_source then c.source_value else c.target_value end,
                                 'name', c.name,
                                 'unchecked_type', c.unchecked_type)
                                 order by c.name collate "C"), '[]')
                          from compared c),
            'key', (select coalesce(json_agg(json_build_object(
                             'name', c.name, 'type', case when s.is_source then c.key_type else c.own_key_type end)
                             order by c.key_position), '[]')
                      from compared c where c.key_position is not null),
            'order', (select coalesce(json_agg(json_build_object(
                               'name', c.name, 'type', case when s.is_source then c.key_type else c.own_key_type end)
                               order by n.position), '[]')
                        from json_array_elements_text(o.names) with ordinality as n(name, position)
                        join compared c on c.name = n.name)) as plan) as p) as p;
