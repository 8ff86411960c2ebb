-- How a table is compared with its source: what is compared for each column on either side, and in which order rows can
-- be read. Gives columns of the key that the target lacks; other columns that it lacks; whether rows can be read in
-- ranges of the key; whether the source may have values that the types here cannot have; names of the columns that are
-- compared; and a JSON document for each side, for verify_statements.sql.
--   $1 document of verify_source.sql or verify_document.sql  $2 full name of the table here
-- Gives compared: key_missing, missing, in_ranges, may_fail, names, source_plan, target_plan
with doc as (
  select $1::json as doc, to_regclass($2) as relation
), source_column as (
  select c.*
    from doc d, json_to_recordset(d.doc -> 'columns')
                  as c(name text, type text, key_type text, as_text text, as_image text, is_json_text text,
                       unchecked_type text, is_masked boolean, key_position integer, sorts text)
), attribute as (
  select s.*, format('case when new.%1$I is distinct from null then concat(new.%1$I) end', s.name) as as_output,
         a.attnum, a.attgenerated, a.attnotnull, a.attcollation, b.oid as base, a.atttypid as own_oid,
         a.atttypmod as own_modifier, format_type(a.atttypid, a.atttypmod) as own_type,
         -- the type itself for a domain
         b.modifier, format_type(b.oid, b.modifier) as plain_type, format_type(b.oid, -1) as own_key_type,
         -- whether casts from and to text are what json_to_record() and concat() do, which take three times as long
         not exists (select from pg_cast t
                      where t.castfunc <> 0 and (t.castsource = b.oid and t.casttarget = 'text'::regtype
                                                 or t.castsource = 'text'::regtype and t.casttarget = b.oid))
           and exists (select from pg_type t where t.oid = b.oid and t.typcategory not in ('A', 'V')) as is_text_alike,
         coalesce(s.type = format_type(a.atttypid, a.atttypmod) and not s.is_masked, false) as is_alike
    from doc d
    cross join source_column s
    left join pg_attribute a on a.attrelid = d.relation and a.attname = s.name and a.attnum > 0 and not a.attisdropped
    left join lateral (
      with recursive part as (
        select t.oid, a.atttypmod as modifier, t.typtype, t.typbasetype, t.typtypmod from pg_type t
         where t.oid = a.atttypid
        union all
        select t.oid, greatest(p.modifier, p.typtypmod), t.typtype, t.typbasetype, t.typtypmod
          from part p join pg_type t on p.typtype = 'd' and t.oid = p.typbasetype
      )
      select p.oid, p.modifier from part p where p.typtype <> 'd') as b on true
), structure as (
  -- as rowrelay.type_structure() gives it: the source may know nothing of the type
  select a.name, s.types
    from attribute a
    cross join lateral (
      with recursive part(oid, modifier) as (
        select a.own_oid, a.own_modifier
        union
        select n.oid, n.modifier
          from part p
          join pg_type t on t.oid = p.oid and t.oid >= 16384
          cross join lateral (
            select t.typbasetype, t.typtypmod where t.typtype = 'd'
            union all
            select t.typelem, -1 where t.typtype <> 'd' and t.typcategory = 'A'
            union all
            select f.atttypid, f.atttypmod from pg_attribute f
             where t.typtype = 'c' and f.attrelid = t.typrelid and f.attnum > 0 and not f.attisdropped)
            as n(oid, modifier)
      )
      select json_object_agg(
               case when p.oid = a.own_oid and p.modifier = a.own_modifier then '' else concat(p.oid, ':', p.modifier)
               end,
               case when p.oid < 16384 then json_build_object('type', format_type(p.oid, p.modifier))
                    when t.typtype = 'd' then json_build_object('base', concat(t.typbasetype, ':', t.typtypmod))
                    when t.typcategory = 'A' then json_build_object('element', concat(t.typelem, ':-1'))
                    when t.typtype = 'c' then json_build_object('fields', (
                      select coalesce(json_agg(json_build_array(f.attname, concat(f.atttypid, ':', f.atttypmod))
                                               order by f.attnum), '[]')
                        from pg_attribute f where f.attrelid = t.typrelid and f.attnum > 0 and not f.attisdropped))
                    else '{}' end) as types
        from part p join pg_type t on t.oid = p.oid) as s
   where not a.is_alike
), compared as (
  -- Texts are made by the types' output functions: a cast would be the code of who owns a type. The source made as_text
  -- likewise. Where the types differ, what counts is what a mirror makes of the value in the row's image: see
  -- mirror_statements.sql.
  select a.*,
         case
           -- numeric keeps its zeros, and the mirror those of the key's first row
           when a.is_alike and a.base = 'numeric'::regtype and a.key_position is not null
             then format('trim_scale(new.%I)', a.name)
           when a.is_alike and a.base <> 'xml'::regtype then a.as_text
           when a.is_alike then a.as_output
           when a.base >= 16384 then v.any_type
           else v.built_in
         end as source_value,
         -- the same, slower, for values that a mirror's type cannot have
         case when not a.is_alike then v.any_type end as safe_value,
         case
           when a.is_alike and a.base = 'numeric'::regtype and a.key_position is not null
             then format('trim_scale(new.%I)', a.name)
           -- ::text gives more of xml than it has at a mirror
           when a.is_alike and a.base < 16384 and a.base <> 'xml'::regtype then format('new.%I', a.name)
           else a.as_output
         end as target_value
    from attribute a
    left join structure s on s.name = a.name
    cross join lateral (
      select 'case when ' || a.is_json_text || ' then ' as begins, ' end' as ends
       where a.is_json_text is not null
       union all
      select '', '' where a.is_json_text is null) as c
    cross join lateral (
      select concat(c.begins,
                    case when a.is_json_text is not null
                         then format('rowrelay.delivered_text(to_json(%s), %L, '''', true) else ', a.as_text, s.types)
                    end,
                    format('rowrelay.delivered_text(%s, %L, '''')', a.as_image, s.types), c.ends) as any_type,
             concat(c.begins,
                    case when a.is_json_text is not null
                         then format('(select case when r.v is distinct from null then concat(r.v) end '
                                     'from (select (%s)::%s) as r(v)) else ', a.as_text, a.plain_type) end,
                    case when a.base in ('json'::regtype, 'jsonb'::regtype)
                           then format('nullif((%s)::text, ''null'')::%s::text', a.as_image, a.plain_type)
                         when a.base = 'varchar'::regtype and a.modifier > -1 -- a cast would cut it
                           then format('pg_catalog."varchar"((%s) #>> ''{}'', %s, false)::text', a.as_image, a.modifier)
                         when a.is_text_alike then format('((%s) #>> ''{}'')::%s::text', a.as_image, a.plain_type)
                         else format('(select case when r.v is distinct from null then concat(r.v) end '
                                       'from json_to_record(json_build_object(''v'', %s)) as r(v %s))', a.as_image,
                                     a.plain_type) end, c.ends) as built_in) as v
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
       (select coalesce(bool_or(not c.is_alike and c.base < 16384 and c.plain_type <> 'text'), false)
          from compared c) as may_fail,
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
                                 'safe_value', case when s.is_source then c.safe_value end,
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
