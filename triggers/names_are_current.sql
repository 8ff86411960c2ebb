-- Purpose:    whether the catalogs show a table's columns as its rows have them. A transaction that sees the database as it
--             was when it began (repeatable read) may write into a table that was altered since: its rows come with the
--             names and types of now.
-- Parameters: relation
create or replace function rowrelay.names_are_current(relation regclass) returns boolean
language plpgsql stable as $$
declare
  shown constant text := (select string_agg(format('%I %s', a.attname, a.atttypid), ',' order by a.attnum)
                            from pg_attribute a where a.attrelid = relation and a.attnum > 0 and not a.attisdropped);
begin
  return shown is not distinct from (select string_agg(format('%I %s', c.name, c.type), ',' order by c.place)
                                       from pg_class r, rowrelay.current_columns(r.reltype) as c where r.oid = relation);
end
$$;
