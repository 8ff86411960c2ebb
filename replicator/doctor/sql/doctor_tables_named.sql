-- The tables that patterns match, as rowrelay.matching_tables() finds them, which is not there before `rowrelay init`.
--   $1 the patterns; $2 of each, a regular expression for the schema (null: a table that the search_path finds);
--   $3 of each, one for the table; $4 of each, whether it has wildcards. No pattern: all tables that are no partitions
-- Gives pattern: oid, name, pattern
with own as materialized (
  -- for the rest of this statement, which is read already: names are looked up as this user has them
  select pg_catalog.set_config('search_path', pg_catalog.current_setting('rowrelay.search_path'), true) as path
)
select c.oid as oid, c.oid::pg_catalog.regclass::text as name, min(p.pattern) as pattern
  from (select * from unnest($1::text[], $2::text[], $3::text[], $4::bool[])
                   as n (pattern, schema_regex, table_regex, wild)
        union all
        select null, '.*', '.*', true where cardinality($1::text[]) = 0) as p
 cross join own o
  left join (pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace)
    on c.relkind in ('r', 'p') and c.relpersistence <> 't'
   and c.relname ~ ('^(' || p.table_regex || ')$')
   and case when p.schema_regex is null then o.path is not null and pg_catalog.pg_table_is_visible(c.oid)
            else n.nspname ~ ('^(' || p.schema_regex || ')$') end
   and n.nspname not in ('pg_catalog', 'information_schema', 'rowrelay', 'rowrelay_target')
   and n.nspname !~ '^pg_(toast|temp)'
   and not (p.wild and c.relispartition)
 where p.pattern is not null or c.oid is not null
 group by c.oid, case when c.oid is null then p.pattern end
 order by c.oid::pg_catalog.regclass::text;
