-- The names of all tables that may be captured: in full, and where that suffices, without the schema.
select n.name
  from pg_catalog.pg_class c
  join pg_catalog.pg_namespace s on s.oid = c.relnamespace
 cross join lateral (values (rowrelay.full_name(c.oid)),
                            (case when c.oid = rowrelay.table_named(quote_ident(c.relname))
                                  then quote_ident(c.relname) end)) as n(name)
 where c.relkind in ('r', 'p') and s.nspname !~ '^pg_' and s.nspname not in ('information_schema', 'rowrelay')
   and n.name is not null
 group by n.name;
