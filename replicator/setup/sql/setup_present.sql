-- What is set up, as JSON: the members of a file for "rowrelay apply". $1: whether to say what has its default value,
-- too.
with options as (
  -- their types are texts; what looks like a number is one for people
  select t.id,
         coalesce(json_object_agg(o.key, case when o.value ~ '^(0|[1-9][0-9]{0,8}|true|false)$' then o.value::json
                                              else to_json(o.value) end order by o.key)
                    filter (where o.key is not null), '{}') as items
    from rowrelay.target t
    left join lateral jsonb_each_text(t.options) as o on true
   where t.dropped_at is null
   group by t.id
), live as (
  select r.capture, t.name as target, r.into_table, r.create_table, r.create_like,
         r.into_table = case when t.options ->> 'mode' = 'append' then rowrelay.changes_name(c.relation)
                             else rowrelay.full_name(c.relation) end as is_default,
         count(*) over (partition by t.url,
                                     regexp_replace(lower(replace(r.into_table, '"', '')), E'^public\\.', '')) > 1
           as is_shared
    from rowrelay.targets v
    join rowrelay.target t on t.name = v.name and t.dropped_at is null
    join rowrelay.route r on r.target = t.id and r.until_id is null
    join rowrelay.capture c on c.id = r.capture and c.released_at is null
   where exists (select from pg_catalog.pg_class k where k.oid = c.relation)
), target_items as (
  select t.name,
         (select coalesce(json_object_agg(v.key, v.value order by v.place) filter (where v.value is not null), '{}')
            from (values (1, 'url', to_json(t.url)),
                         (2, 'options', case when $1::boolean or t.options <> '{}' then o.items end),
                         (3, 'paused', case when $1::boolean or t.state = 'paused'
                                            then to_json(t.state = 'paused') end)) as v(place, key, value)) as item
    from rowrelay.targets v
    join rowrelay.target t on t.name = v.name and t.dropped_at is null
    join options o on o.id = t.id
), route_items as (
  select l.capture, l.target,
         (select coalesce(json_object_agg(v.key, v.value order by v.place) filter (where v.value is not null), '{}')
            from (values (1, 'into', case when $1::boolean or not l.is_default then to_json(l.into_table) end),
                         (2, 'create', case when $1::boolean or l.create_table then to_json(l.create_table) end),
                         (3, 'like', case when $1::boolean or l.create_like <> 'minimal'
                                          then to_json(l.create_like) end),
                         (4, 'shared', case when $1::boolean or l.is_shared then to_json(l.is_shared) end))
                   as v(place, key, value)) as item
    from live l
), capture_items as (
  select rowrelay.full_name(c.relation) as name,
         (select coalesce(json_object_agg(v.key, v.value order by v.place) filter (where v.value is not null), '{}')
            from (values
              (1, 'key', case when c.key_is_chosen
                              then to_json(rowrelay.attribute_names(c.relation, c.key_columns)) end),
              (2, 'lane', to_json(rowrelay.attribute_names(c.relation, c.lane_columns))),
              (3, 'columns', case when c.only_columns is not null then to_json(i.keep) end),
              (4, 'exclude', case when $1::boolean or cardinality(i.leave_out) > 0 then to_json(i.leave_out) end),
              (5, 'mask', case when $1::boolean or i.masks::text <> '{}' then i.masks end),
              (6, 'where', case when $1::boolean or c.row_filter is not null
                                then to_json(coalesce(c.row_filter, '')) end),
              (7, 'before', case when $1::boolean or c.before = 'full' then to_json(c.before = 'full') end),
              (8, 'capture_origin', case when $1::boolean or c.capture_origin then to_json(c.capture_origin) end),
              (9, 'per', case when $1::boolean or c.per <> 'row' then to_json(c.per) end),
              (10, 'keep', case when c.keep >= interval '100000 years' then to_json('forever'::text)
                               when c.keep is not null then to_json(c.keep::text)
                               when $1::boolean then to_json('default'::text) end),
              (11, 'routes', (select json_object_agg(r.target, r.item order by r.target)
                                from route_items r where r.capture = c.id))) as v(place, key, value)) as item
    from rowrelay.capture s
    cross join lateral rowrelay.renumbered(s) as c
    cross join lateral rowrelay.image_columns(c) as i
   where c.released_at is null and exists (select from pg_catalog.pg_class k where k.oid = c.relation)
), document_items as (
  select d.document as name,
         (select coalesce(json_object_agg(v.key, v.value order by v.place) filter (where v.value is not null), '{}')
            from (values
              (1, 'target', to_json(d.target)),
              (2, 'key', to_json(d.key)),
              (3, 'query', to_json(d.query)),
              (4, 'from', to_json(d.sources)),
              (5, 'into', case when $1::boolean or d.into_table <> quote_ident(d.document)
                               then to_json(d.into_table) end),
              (6, 'create', case when $1::boolean or d.create_table then to_json(d.create_table) end),
              (7, 'search', to_json(d.search)),
              (8, 'search_path', to_json(d.search_path)),
              (9, 'options', case when $1::boolean or t.options <> '{}' then o.items end),
              (10, 'paused', case when $1::boolean or t.state = 'paused' then to_json(t.state = 'paused') end))
                   as v(place, key, value)) as item
    from rowrelay.documents d
    join rowrelay.target t on t.name = d.document and t.dropped_at is null
    join options o on o.id = t.id
)
select json_build_object(
         'keep', (select coalesce(s.keep::text, 'forever') from rowrelay.source s),
         'seal', (select s.seals from rowrelay.source s),
         'targets', (select coalesce(json_object_agg(t.name, t.item order by t.name), '{}') from target_items t),
         'captures', (select coalesce(json_object_agg(c.name, c.item order by c.name), '{}') from capture_items c),
         'documents', (select coalesce(json_object_agg(d.name, d.item order by d.name), '{}') from document_items d));
