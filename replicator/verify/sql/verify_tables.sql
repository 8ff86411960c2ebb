-- The tables that a target gets, or those of them that patterns name, each once: oid, name, pattern. A pattern that
-- matches none has a row without oid.
--   $1 target  $2 patterns, JSON array; null: all tables
-- Gives pattern: oid, name, pattern
with routed as (
  select c.relation, rowrelay.full_name(c.relation) as name
    from rowrelay.route r
    join rowrelay.capture c on c.id = r.capture
   where r.target = $1::integer and r.until_id is null and c.released_at is null
     and exists (select from pg_catalog.pg_class k where k.oid = c.relation)
), named as (
  select p.pattern, r.*
    from json_array_elements_text($2::json) as p(pattern)
    left join lateral (select m.relation, r.name from rowrelay.matching_tables(p.pattern) as m(relation)
                         join routed r on r.relation = m.relation) as r on true
   where $2 is not null
  union all
  select null, r.* from routed r where $2 is null
)
select n.relation::oid as oid, n.name, min(n.pattern) as pattern
  from named n
 group by n.relation, n.name, case when n.relation is null then n.pattern end
 order by n.name;
