-- How long changes are kept, for people: the whole log first, then the tables that have a setting of their own.
select k."table", k.keep
  from (select 1 as n, '(all)' as "table", coalesce(s.keep::text, 'forever') as keep from rowrelay.source s
        union all
        select 2, c.relation::text, c.keep from rowrelay.captures c where c.keep is not null) as k
 order by k.n, k."table";
