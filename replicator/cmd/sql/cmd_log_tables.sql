-- The tables matching patterns $1 that have or had a log, each once: oid, name, pattern. A dropped table is found by
-- its name. A pattern that matches none has a row without oid.
-- Gives pattern: oid, name, pattern
with named as (
  select p.pattern, t.relation, t.relation::regclass::text as name
    from unnest($1::text[]) p (pattern)
    cross join lateral rowrelay.matching_tables(p.pattern) m (relation)
    join rowrelay.logged_tables() t on t.relation = m.relation
), gone as (
  select p.pattern, t.relation, t.relation_name as name
    from unnest($1::text[]) p (pattern)
    join rowrelay.logged_tables() t on t.relation_name in (p.pattern, 'public.' || p.pattern)
   where t.is_gone
)
select m.relation::oid as oid, m.name, min(p.pattern) as pattern
  from unnest($1::text[]) p (pattern)
  left join (table named union table gone) m on m.pattern = p.pattern
 group by m.relation, m.name, case when m.relation is null then p.pattern end
 order by m.name;
