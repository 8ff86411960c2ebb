-- Purpose:    what the table of a table's changes is called in an append target: its name with _changes. PostgreSQL cuts
--             longer names than 63 bytes, and what is left could be another table's name, or the table's own.
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
