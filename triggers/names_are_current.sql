-- Purpose:    whether the catalogs show a table's columns as its rows have them. A repeatable read transaction may
--             write to a table that was altered since it began: its rows have the new names and types.
-- Parameters: relation
-- Result:     false also when this is unknown
create or replace function rowrelay.names_are_current(relation regclass) returns boolean
language plpgsql stable as $$
declare
  shown constant text := (select string_agg(format('%I %s', a.attname, a.atttypid), ',' order by a.attnum)
                            from pg_attribute a where a.attrelid = relation and a.attnum > 0 and not a.attisdropped);
begin
  return shown is not distinct from (select string_agg(format('%I %s', c.name, c.type), ',' order by c.place)
                                       from pg_class r, rowrelay.current_columns(r.reltype) as c
                                         where r.oid = relation);
exception when insufficient_privilege then
  return false;
end
$$;
