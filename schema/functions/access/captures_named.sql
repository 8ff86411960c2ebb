-- Purpose:    finds the captures, present and former, of a table that may be gone
-- Parameters: name as views and hints show it
-- Errors:     no table of that name was ever captured
create or replace function rowrelay.captures_named(name text) returns integer[]
language plpgsql stable as $$
declare
  parts    constant text[] := parse_ident(name);
  captures integer[];
begin
  captures := array(
    select c.id from rowrelay.capture c
     where c.relation = (select r.oid from pg_class r join pg_namespace n on n.oid = r.relnamespace
                          where r.relname = parts[cardinality(parts)]
                            and (n.nspname = parts[cardinality(parts) - 1]
                                 or cardinality(parts) = 1 and c.relation = r.oid) limit 1)
        or parse_ident(c.relation_name) = parts
        or cardinality(parts) = 1 and (parse_ident(c.relation_name))[2] = parts[1]);
  if cardinality(captures) = 0 then
    raise exception 'no table "%" was ever captured', name using errcode = 'undefined_table',
      hint = 'To see the table of each change: '
               || rowrelay.command('rowrelay errors', 'select * from rowrelay.errors;');
  end if;
  return captures;
end
$$;
