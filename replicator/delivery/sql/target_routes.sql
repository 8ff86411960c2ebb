-- What goes to a target: for each capture that was ever routed to it, the table and how its rows are identified, also
-- when the table was dropped. Columns come with their types, and types that people defined with what it takes to make
-- them in the target; then the names of the columns that the table has now, null when it was dropped; of those that it
-- has and that are left out; and the captured tables that it is read from: itself, or a document's sources.
--   $1 target  $2 only this capture; null: all
-- Gives route: capture, relation, number, into_table, create_table, key_columns, keyless, key_is_exact, key_is_lost,
--   is_replaced, columns, types, document, source_columns, hidden_columns, read_from, column_types, parts, identity
select r.capture,
       coalesce(rowrelay.full_name(c.relation), c.relation_name) as relation,
       c.relation::oid::text as number,
       r.into_table,
       r.create_table,
       to_json(k.names) as key_columns,
       cardinality(c.key_columns) = 0 as keyless,
       c.key_is_exact,
       array_position(k.names, null) is not null as key_is_lost,
       -- the places of tables that are there; looked up once, not for each route
       not t.is_there and r.place in (select s.place
                                             from rowrelay.route s
                                             join rowrelay.capture n on n.id = s.capture and n.released_at is null
                                             join pg_class o on o.oid = n.relation
                                            where s.target = $1::integer and s.until_id is null) as is_replaced,
       case when r.create_table then coalesce(
         (select d.columns::json from rowrelay.document d where d.target = r.target),
         -- not what rows have under a mask
         (select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
                                            'leaves', case when a.atttypid >= 16384 then
                                              rowrelay.type_leaves(a.atttypid, a.atttypmod) end,
                                            'older_have', o.value, 'older_names', o.names)
                          order by a.attnum)
            from pg_attribute a
            left join rowrelay.older_values(c) as o
                   on o.number = a.attnum and not (c.mask ? a.attnum::text or c.mask_names ? a.attname::text)
           where a.attrelid = c.relation and a.attnum > 0 and not a.attisdropped
             and a.attname::text <> all (i.leave_out) and (i.keep is null or a.attname::text = any (i.keep))),
         case when t.is_there then '[]'::json end) end as columns,
       -- where all types are PostgreSQL's own, as nearly everywhere, there is nothing to look for
       case when r.create_table
            and exists (select from pg_attribute a where a.attrelid = c.relation and a.atttypid >= 16384)
            then rowrelay.type_definitions(c.relation) end as types,
       exists (select from rowrelay.document d where d.target = r.target) as document,
       case when t.is_there then
         (select coalesce(json_agg(a.attname order by a.attnum), '[]')
            from pg_attribute a
           where a.attrelid = c.relation and a.attnum > 0 and not a.attisdropped
             and a.attname::text <> all (i.leave_out) and (i.keep is null or a.attname::text = any (i.keep)))
       end as source_columns,
       (select json_agg(a.attname order by a.attnum)
          from pg_attribute a
         where a.attrelid = c.relation and a.attnum > 0 and not a.attisdropped
           and (a.attname::text = any (i.leave_out) or a.attname::text <> all (i.keep))) as hidden_columns,
       -- what it is read from
       coalesce((select array_agg(distinct rowrelay.full_name(s.relation))
                   from rowrelay.document_source d
                   join rowrelay.capture s on s.id = d.capture
                  where d.document = r.target),
                array[rowrelay.full_name(c.relation)]) as read_from,
       -- only for messages that carry a schema
       case when exists (select from rowrelay.target s
                          where s.options ->> 'schema' = 'true'
                            and s.id in ($1::integer,
                                         (select d.delivers_to from rowrelay.document d where d.target = $1::integer)))
            then coalesce(
              (select d.columns::json from rowrelay.document d where d.target = r.target),
              (select json_agg(json_build_object('name', a.attname,
                                                 'type', format_type(rowrelay.base_type(a.atttypid), null))
                               order by a.attnum)
                 from pg_attribute a
                where a.attrelid = c.relation and a.attnum > 0 and not a.attisdropped
                  and a.attname::text <> all (i.leave_out) and (i.keep is null or a.attname::text = any (i.keep))))
       end as column_types,
       case when r.create_table and r.create_like = 'full' then
         (select coalesce(json_agg(json_build_object('kind', p.kind, 'name', p.name, 'definition', p.definition)), '[]')
            from rowrelay.mirror_parts(c, r.into_table) p
           where p.left_out is null)
       end as parts,
       -- for the path of what is captured again where it arrives, as passed_identities.sql says it
       b.server || '/' || c.relation::oid as identity
  from rowrelay.route r
  join rowrelay.capture c on c.id = r.capture
  cross join lateral (select exists (select from pg_class o where o.oid = c.relation) as is_there) as t
  cross join lateral (
    select case when rowrelay.full_name(c.relation) is null then c.key_names
                else rowrelay.attribute_names(c.relation, c.key_columns) end as names) as k
  cross join lateral rowrelay.image_columns(c) as i
  cross join (select rowrelay.system_identifier() || '/' || d.oid as server
                from pg_database d where d.datname = current_database()) as b
 where r.target = $1::integer and ($2::integer is null or r.capture = $2::integer);
