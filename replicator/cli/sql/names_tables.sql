-- Tables that can be captured, to complete what somebody types: with their schemas where they need that, and with
-- double quotes, which need not have been typed yet.
--   $1 what they begin with
with own as materialized (
  -- for the rest of this statement, which is read already: names are looked up as this user has them
  select set_config('search_path', current_setting('rowrelay.search_path'), true) as path
)
select n.name
  from (select case when o.path is not null and pg_table_is_visible(c.oid) and strpos($1::text, '.') = 0
                    then quote_ident(c.relname)
                    else format('%I.%I', s.nspname, c.relname) end as name
          from own o
         cross join pg_class c
          join pg_namespace s on s.oid = c.relnamespace
         where c.relkind in ('r', 'p') and not c.relispartition and s.nspname <> 'rowrelay'
           and s.nspname !~ '^(pg_|information_schema$)') as n
 where (starts_with(n.name, $1) or starts_with(replace(n.name, '"', ''), $1)) and n.name !~ '[[:cntrl:]]'
 order by n.name limit 500;
