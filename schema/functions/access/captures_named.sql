-- Purpose:    finds the captures, present and former, of a table that may be gone
-- Parameters: name as views and hints show it, or the table's oid, as they show it of one that is gone. A table that
--             was renamed is not found by its former name where another one has that now; those that are gone are.
-- Errors:     no table of that name was ever captured
create or replace function rowrelay.captures_named(name text) returns integer[]
language plpgsql stable as $$
declare
  parts    text[];
  present  oid[]; -- tables of that name
  captures integer[];
begin
  if name ~ '^[0-9]{1,10}$' then
    captures := array(select c.id from rowrelay.capture c where c.relation::oid::text = name);
  else
    parts := parse_ident(name);
    present := array(
      select r.oid from pg_class r join pg_namespace n on n.oid = r.relnamespace
       where r.relname = parts[cardinality(parts)]
         and (cardinality(parts) = 1 or n.nspname = parts[cardinality(parts) - 1])
         and exists (select from rowrelay.capture c where c.relation = r.oid));
    captures := array(
      select c.id from rowrelay.capture c
       where c.relation = any (present)
          or (parse_ident(c.relation_name) = parts
              or cardinality(parts) = 1 and (parse_ident(c.relation_name))[2] = parts[1])
             and (present = '{}' or not exists (select from pg_class r where r.oid = c.relation)));
  end if;
  if cardinality(captures) = 0 then
    raise exception 'no table "%" was ever captured', name using errcode = 'undefined_table',
      hint = 'To see the table of each change: '
               || rowrelay.command('rowrelay errors', 'select * from rowrelay.errors;');
  end if;
  return captures;
end
$$;
