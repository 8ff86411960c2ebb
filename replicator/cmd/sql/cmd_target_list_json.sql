-- All targets, for programs.
select coalesce(json_agg(t order by t.name), '[]') from rowrelay.targets t;
