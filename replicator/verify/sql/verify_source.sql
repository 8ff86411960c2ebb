-- What is needed to compare a captured table: one JSON document for verify_target.sql; its name in the target; whether
-- it has no key; the capture; a statement that tells whether the source has no row for it; and another table whose rows
-- are in the same place, null for none; the types of its columns and the names of its key's, for coarse_columns.sql;
-- and whether its mirror is created by us.
--   $1 oid of the table  $2 target
-- Gives source: document, into_table, keyless, capture, is_empty, shared_with,
--   types, key_names, creates
with capture as (
  select c.*, r.into_table, r.target, r.create_table, rowrelay.live_key(c) as live_key,
         case when c.row_filter is not null then coalesce(
           -- as it was understood when the triggers were made, with the row called new
           (select substring(pg_get_triggerdef(t.oid) from ' WHEN \((.*)\) EXECUTE FUNCTION ') from pg_trigger t
             where t.tgrelid = c.relation and t.tgname = '!rowrelay_insert'),
           c.row_filter) end as condition
    from rowrelay.capture s
   cross join lateral rowrelay.renumbered(s) as c
    join rowrelay.route r on r.capture = c.id and r.target = $2::integer and r.until_id is null
   where c.relation = $1::oid and c.released_at is null
), attribute as (
  select a.attnum, a.attname, a.atttypid, a.atttypmod, b.oid as base, b.typcategory, a.attnotnull, a.attcollation,
         array_position(c.live_key, a.attnum) as key_position
    from capture c
    join pg_attribute a on a.attrelid = c.relation and a.attnum > 0 and not a.attisdropped
    join pg_type b on b.oid = rowrelay.base_type(a.atttypid)
   where a.attnum <> all (c.exclude_columns) and (c.only_columns is null or a.attnum = any (c.only_columns))
), image as materialized ( -- once for all columns, and what is asked of a type once for each type
  select i.* from capture c cross join lateral rowrelay.image_values(c.relation, 'new') as i
), inner_domain as materialized (
  select o.type, rowrelay.has_inner_domain(o.type) as has_it
    from (select distinct a.atttypid as type from attribute a offset 0) as o
), usable_index as (
  -- one that has the rows in order of the key's columns, whatever the order of these
  select i.indexrelid, i.indisprimary,
         (select json_agg(a.attname order by u.position)
            from unnest(i.indkey::smallint[]) with ordinality as u(n, position)
            join attribute a on a.attnum = u.n
           where u.position <= cardinality(c.live_key)) as names
    from capture c
    join pg_index i on i.indrelid = c.relation and i.indisvalid and i.indpred is null
    join pg_class k on k.oid = i.indexrelid
    join pg_am m on m.oid = k.relam and m.amname = 'btree'
   where cardinality(c.live_key) > 0
     and i.indnkeyatts >= cardinality(c.live_key)
     and (i.indkey::smallint[])[0:cardinality(c.live_key) - 1] operator(pg_catalog.@>) c.live_key
     and not exists (select from generate_series(0, cardinality(c.live_key) - 1) as n
                      where i.indoption[n] <> 0
                         or not (select o.opcdefault from pg_opclass o where o.oid = i.indclass[n]))
)
select json_build_object(
         'capture', c.id,
         'target', c.target,
         'relation', rowrelay.full_name(c.relation),
         'filter', c.condition,
         -- a key with null in it is not in the log
         'key_text', format(coalesce((select 'case when num_nulls('
                                             || string_agg(format('wanted.%I', replace(a.attname, '%', '%%')), ', ')
                                             || ') = 0 then %s end'
                                        from attribute a where a.key_position is not null
                                      having not bool_and(a.attnotnull)), '%s'),
                            rowrelay.key_expression(c.relation, c.live_key, 'wanted')),
         'row_hash', case when rowrelay.has_domain_parts(c.relation, c.live_key) then 'f.row_hash' -- not to be had
                          when c.key_is_exact
                          then format('rowrelay.text_hash(%s)',
                                      rowrelay.key_expression(c.relation, c.live_key, 'wanted'))
                          else format('coalesce(nullif(%s, 0), 1)',
                                      rowrelay.hash_expression(c.id, c.relation, c.live_key, 'wanted')) end,
         'key_size', cardinality(c.live_key),
         'columns', coalesce((select json_agg(json_build_object(
                              'name', a.attname,
                              'type', format_type(a.atttypid, a.atttypmod),
                              'key_type', rowrelay.plain_type(a.atttypid, a.attcollation),
                              'as_text', rowrelay.safe_text(format('new.%I', a.attname), a.atttypid),
                              'as_image', case when not c.mask ? a.attnum::text then i.value
                                               else format('%L::pg_catalog.json', c.mask -> a.attnum::text) end,
                              'is_json_text', case when not c.mask ? a.attnum::text then i.is_json_text end,
                              -- null: its images cannot be read without CHECKs of domains
                              'unchecked_type', case when not (select d.has_it from inner_domain d
                                                                where d.type = a.atttypid)
                                                     then rowrelay.plain_type(a.atttypid, 0) end,
                              'is_masked', c.mask ? a.attnum::text,
                              'key_position', a.key_position,
                              'sorts', s.sorts))
                       from attribute a
                       left join image i on i.number = a.attnum
                       left join lateral (
                         -- types that sort alike on every server, unless it is by a collation that another one lacks
                         select concat_ws(' ',
                                  case when a.attcollation = 0 then format_type(a.base, -1)
                                       when a.base in ('text'::regtype, 'varchar'::regtype) then 'text'
                                       else format_type(a.base, -1) end,
                                  case when a.attcollation = 0 or l.locale in ('C', 'POSIX') then null
                                       else concat_ws(' ', l.provider, l.locale, l.version) end,
                                  -- and the bytes that stand for a letter
                                  case when a.attcollation <> 0
                                       then replace(getdatabaseencoding(), 'SQL_ASCII', 'UTF8') end) as sorts
                           from (select case k.collprovider
                                          when 'd' then coalesce(to_jsonb(d) ->> 'datlocprovider', 'c')
                                          else k.collprovider::text end as provider,
                                        case k.collprovider
                                          when 'd'
                                          then coalesce(to_jsonb(d) ->> 'datlocale', to_jsonb(d) ->> 'daticulocale',
                                                        d.datcollate)
                                          else coalesce(to_jsonb(k) ->> 'colllocale', to_jsonb(k) ->> 'colliculocale',
                                                        k.collcollate) end as locale,
                                        case when k.collprovider <> 'd' then pg_collation_actual_version(k.oid) end
                                          as version,
                                        coalesce(k.collisdeterministic, true) as is_deterministic
                                   from pg_database d
                                   left join pg_collation k on k.oid = a.attcollation
                                  where d.datname = current_database()) as l
                          where a.key_position is not null and a.attnotnull and a.base < 10000
                            and a.base <> all ('{json,jsonb}'::regtype[]) and a.typcategory not in ('A', 'E', 'R', 'C')
                            and l.is_deterministic) as s on true), '[]'),
         'orders', coalesce((select json_agg(i.names order by i.indisprimary desc, i.indexrelid) from usable_index i),
                            '[]')) as document,
       c.into_table,
       cardinality(c.live_key) = 0 as keyless,
       c.id as capture,
       format('select not exists (select from %s as new where %s)', rowrelay.full_name(c.relation),
              coalesce(c.condition, 'true')) as is_empty,
       rowrelay.shares_place(c.id, c.target) as shared_with,
       (select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
                                          'leaves', case when a.atttypid >= 16384
                                                         then rowrelay.type_leaves(a.atttypid, a.atttypmod) end)
                        order by a.attnum)
          from attribute a where not c.mask ? a.attnum::text) as types,
       (select coalesce(json_agg(a.attname), '[]') from attribute a where a.key_position is not null) as key_names,
       c.create_table as creates
  from capture c;
