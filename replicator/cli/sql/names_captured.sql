-- Captured tables, to complete what somebody types; the same as names_tables.sql gives.
--   $1 what they begin with
select n.name
  from (select case when strpos($1::text, '.') = 0 and r.oid = rowrelay.table_named(quote_ident(r.relname))
                    then quote_ident(r.relname)
                    else c.relation_name end as name
          from rowrelay.capture c
          join pg_class r on r.oid = c.relation
         where c.released_at is null) as n
 where (starts_with(n.name, $1) or starts_with(replace(n.name, '"', ''), $1)) and n.name !~ '[[:cntrl:]]'
 order by n.name limit 500;
