-- The captured tables that patterns name, each once: oid, name, pattern. A pattern that names none has a row without oid.
select m.relation::oid, m.relation::text, min(p.pattern)
  from unnest($1::text[]) p (pattern)
  left join lateral (select r.relation
                       from rowrelay.matching_tables(p.pattern) r (relation)
                      where exists (select from rowrelay.captures c where c.relation = r.relation)) m on true
 group by m.relation, case when m.relation is null then p.pattern end
 order by m.relation::text;
