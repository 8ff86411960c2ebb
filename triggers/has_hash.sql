-- Purpose:    whether every value of a type can be hashed so that equal values have equal hashes. The hash functions of
--             arrays, ranges and rows fail if a part has none. That of an enum is of no use: it hashes the number of a
--             label, which is another one after a dump and restore.
-- Parameters: type (a domain counts as its base type)
create or replace function rowrelay.has_hash(of_type oid) returns boolean
language plpgsql stable as $$
declare
  hashed_as constant oid := rowrelay.hashed_as(of_type);
begin
  return hashed_as is not null
     and hashed_as <> 'anyenum'::regtype
     and (exists (select from pg_type t where t.oid = hashed_as and t.typtype <> 'p')
          or not exists (select from rowrelay.type_parts(of_type, 0) as p where not rowrelay.has_hash(p.type)));
end
$$;
