-- The tables matching patterns $1, each once: oid, name, pattern. A pattern that matches none has a row without oid. A
-- partition or inheritance child is captured with its parent, so it is left out where the parent matches too.
-- Gives pattern: oid, name, pattern
with recursive named as (
  select p.pattern, m.relation
    from unnest($1::text[]) p (pattern)
    left join lateral rowrelay.matching_tables(p.pattern) m (relation) on true
), part (relation) as (
  select i.inhrelid from named n join pg_catalog.pg_inherits i on i.inhparent = n.relation
  union
  select i.inhrelid from part p join pg_catalog.pg_inherits i on i.inhparent = p.relation
)
select n.relation::oid as oid, n.relation::text as name, min(n.pattern) as pattern
  from named n
 where n.relation is null or n.relation not in (select p.relation from part p)
 group by n.relation, case when n.relation is null then n.pattern end
 order by n.relation::text;
