-- Purpose:    whether the catalogs show a table's columns by the names that its rows have. A transaction that sees the
--             database as it was when it began (repeatable read) may write into a table that was altered since: its rows
--             come with the names of now, and so does what pg_identify_object_as_address() says, which looks into no
--             snapshot.
-- Parameters: relation
create or replace function rowrelay.names_are_current(relation regclass) returns boolean
language sql stable as $$
  select not exists (
    select from pg_attribute a
     where a.attrelid = relation and a.attnum > 0 and not a.attisdropped
       and (pg_identify_object_as_address('pg_class'::regclass, relation, a.attnum)).object_names[3] is distinct from a.attname::text)
$$;
