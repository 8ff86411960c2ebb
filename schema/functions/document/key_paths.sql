-- Purpose:    finds how foreign keys lead from tables to the key of a document
-- Parameters: root and key_column: the table and column that have the keys of all documents
--             used: {"oid of a table": [numbers of the columns that the document uses]}: only these tables are passed,
--               and only by foreign keys with such columns; null: any
--             several: tables that the document reads more than once, whose foreign keys to themselves count
--             longest: how many foreign keys a path may have
-- Result:     for each path the table that it begins at; what a source says behind the table's name: a column, or a
--             query; the numbers of the table's columns by which it goes; how many foreign keys it has
create or replace function rowrelay.key_paths(root regclass, key_column smallint, used jsonb, several oid[],
                                              longest integer)
  returns table (relation regclass, leads_to text, columns smallint[], hops integer)
language sql stable as $$
  with recursive foreign_key as (
    select c.conrelid, c.confrelid, c.conkey, c.confkey
      from pg_constraint c
     where c.contype = 'f' and (c.conparentid = 0 or used ? c.conrelid::text)
       and (used is null
            -- the query compares one of its columns at least
            or exists (select from unnest(c.conkey, c.confkey) as u(own, other)
                        where used -> c.conrelid::text @> to_jsonb(u.own)
                          and used -> c.confrelid::text @> to_jsonb(u.other)))
       and (c.conrelid <> c.confrelid or c.conrelid = any (several))
  ), edge as (
    select f.conrelid as near, f.confrelid as far, f.conkey as near_columns, f.confkey as far_columns from foreign_key f
    union
    select f.confrelid, f.conrelid, f.confkey, f.conkey from foreign_key f
  ), path as (
    -- key: its column that has the key of the document, too. Else joins lead to it from base, the last table that had
    -- one; "before" are these without its own, and "at" is what its rows must meet
    select root::oid as relation, key_column as key, root::oid as base, key_column as base_key, 0 as depth,
           '' collate "C" as joins, '' collate "C" as before, '' collate "C" as at, '{}'::smallint[] as columns,
           array[root::oid] as passed, 0 as hops, false as is_end
    union all
    select e.far, n.key, n.base, n.base_key,
           case when n.key is null then n.depth + 1 else 0 end,
           case when n.key is null
                then format('%s join %s %s on %s', n.joins, rowrelay.full_name(e.far), n.alias, c.joined) else '' end,
           n.joins, c.at, e.far_columns, p.passed || e.far, p.hops + 1, e.far = e.near
      from path p
      join edge e on e.near = p.relation and not p.is_end and p.hops < longest
                 and (e.far <> all (p.passed) or e.far = e.near)
     cross join lateral (
       select case when p.key is not null then e.far_columns[array_position(e.near_columns, p.key)] end as key,
              case when p.key is not null then p.relation else p.base end as base,
              case when p.key is not null then p.key else p.base_key end as base_key,
              case when p.key is not null then 0 else p.depth end as depth,
              case when p.key is not null then '' else p.joins end as joins,
              chr(case when p.key is not null then 98 else 98 + p.depth end) as alias) as n
     cross join lateral (
       select string_agg(format('changed.%I = %s.%I', f.attname, chr(ascii(n.alias) - 1), a.attname), ' and '
                         order by u.place) as at,
              string_agg(format('%s.%I = %s.%I', n.alias, f.attname, chr(ascii(n.alias) - 1), a.attname), ' and '
                         order by u.place) as joined
         from unnest(e.far_columns, e.near_columns) with ordinality as u(far, near, place)
         join pg_attribute f on f.attrelid = e.far and f.attnum = u.far
         join pg_attribute a on a.attrelid = e.near and a.attnum = u.near) as c
  )
  select p.relation::regclass,
         case when p.key is not null
              -- as rowrelay.document_plan() takes a column
              then format(case when k.type = r.type or array[k.type, r.type] <@ '{int2,int4,int8,oid}'::regtype[]
                                    or array[k.type, r.type] <@ '{text,varchar,name}'::regtype[]
                               then '%1$I' else 'select changed.%1$I from changed' end, k.name)
              else format('select a.%I from %s a%s join changed on %s', b.attname, rowrelay.full_name(p.base), p.before,
                          p.at) end,
         case when p.key is not null then p.columns || p.key else p.columns end,
         p.hops
    from path p
   cross join lateral (select rowrelay.base_type(a.atttypid)::regtype as type from pg_attribute a
                        where a.attrelid = root and a.attnum = key_column) as r
    left join lateral (select a.attname as name, rowrelay.base_type(a.atttypid)::regtype as type from pg_attribute a
                        where a.attrelid = p.relation and a.attnum = p.key) as k on true
    left join pg_attribute b on b.attrelid = p.base and b.attnum = p.base_key
   where p.hops > 0
$$;
