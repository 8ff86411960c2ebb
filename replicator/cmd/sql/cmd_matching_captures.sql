-- The captured tables matching patterns $1, each once: oid, name, pattern. A dropped table is found by its name, unless
-- another one has that now. A pattern that matches none has a row without oid.
-- Gives pattern: oid, name, pattern
with named as (
  select p.pattern, m.relation, m.relation::text as name
    from unnest($1::text[]) p (pattern)
    cross join lateral rowrelay.matching_tables(p.pattern) m (relation)
   where exists (select from rowrelay.captures c where c.relation = m.relation)
), gone as (
  select p.pattern, c.relation, c.relation_name as name
    from unnest($1::text[]) p (pattern)
    join rowrelay.captures c on c.relation_name in (p.pattern, 'public.' || p.pattern)
   where not exists (select from pg_class r where r.oid = c.relation)
     and not exists (select from named n where n.pattern = p.pattern)
)
select m.relation::oid as oid, m.name, min(p.pattern) as pattern
  from unnest($1::text[]) p (pattern)
  left join (table named union all table gone) m on m.pattern = p.pattern
 group by m.relation, m.name, case when m.relation is null then p.pattern end
 order by m.name;
