-- Purpose:    returns the names of a table's columns, so that rowrelay.numbers_here() finds them again
-- Parameters: relation
-- Result:     names by number; null for a column that has been dropped
create or replace function rowrelay.column_names(relation regclass) returns text[]
language sql stable as $$
  select array_agg(case when not a.attisdropped then a.attname::text end order by a.attnum)
    from pg_attribute a where a.attrelid = relation and a.attnum > 0
$$;
