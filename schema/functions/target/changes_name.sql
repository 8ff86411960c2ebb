-- Purpose:    names the table that holds a table's changes in an append target: its name and _changes. PostgreSQL would
--             truncate a name of more than 63 bytes to what may be another table's name, or the table's own.
-- Parameters: relation
-- Result:     the name with its schema, quoted where it must be
create or replace function rowrelay.changes_name(relation regclass) returns text
language plpgsql stable as $$
declare
  room    constant integer := 63 - octet_length('_changes');
  schema  name;
  name    text;
  begins  text;
begin
  select n.nspname, c.relname into schema, name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = relation;
  if octet_length(name) > room then
    begins := name;
    while octet_length(begins) > room - 9 loop
      begins := left(begins, -1);
    end loop;
    name := begins || '_' || left(encode(sha256(convert_to(name, getdatabaseencoding())), 'hex'), 8);
  end if;
  return format('%I.%I', schema, name || '_changes');
end
$$;
