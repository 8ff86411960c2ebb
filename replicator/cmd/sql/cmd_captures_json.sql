-- The captured tables, for programs.
select coalesce(json_agg(c order by c.relation::text), '[]') from rowrelay.captures c;
