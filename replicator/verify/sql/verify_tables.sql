-- The tables that a target gets, or those of them that patterns name, each once: oid, name, pattern; and commands that
-- capture the table that has the name now, where the captured one is gone or has another name, which is present_name. A
-- pattern that matches none has a row without oid. And when changes were noted to be missing there.
--   $1 target  $2 patterns, JSON array; null: all tables
-- Gives verify_table: oid, name, pattern, capture_again, present_name, capture, gap
with routed as (
  select c.relation, coalesce(rowrelay.full_name(a.successor), n.present, c.relation_name) as name,
         case when a.successor is not null then rowrelay.capture_again(c) end as capture_again,
         n.present as present_name, c.id as capture,
         (select max(g.noted_at) from rowrelay.gap g where g.capture = c.id and g.target = r.target) as gap
    from rowrelay.route r
    join rowrelay.capture c on c.id = r.capture
    left join pg_catalog.pg_class k on k.oid = c.relation
   cross join lateral rowrelay.full_name(c.relation) as n(present)
    left join lateral (select s.relation as successor from rowrelay.successor(c) as s
                        where n.present is distinct from c.chosen_name and not s.for_documents) as a on true
   where r.target = $1::integer and r.until_id is null and c.released_at is null
     and (k.oid is not null or a.successor is not null)
), named as (
  select p.pattern, r.*
    from json_array_elements_text($2::json) as p(pattern)
    left join lateral (select r.* from rowrelay.matching_tables(p.pattern) as m(relation)
                         join routed r on rowrelay.full_name(m.relation) in (r.name, r.present_name)) as r
              on true
   where $2 is not null
  union all
  select null, r.* from routed r where $2 is null
)
select n.relation::oid as oid, n.name, min(n.pattern) as pattern, n.capture_again, n.present_name,
       n.capture, n.gap
  from named n
 group by n.relation, n.name, n.capture_again, n.present_name, n.capture, n.gap,
       case when n.relation is null then n.pattern end
 order by n.name;
