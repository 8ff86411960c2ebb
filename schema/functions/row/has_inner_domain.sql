-- Purpose:    whether a value of a type cannot be read without CHECKs of domains, because an array, range or row in it
--             has a domain inside. (A domain can be read as its base type: rowrelay.plain_oid().)
-- Parameters: type
create or replace function rowrelay.has_inner_domain(of_type oid) returns boolean
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  return rowrelay.plain_oid(of_type) = 0 -- an array of domains over arrays: no other type has its values
      or exists (with recursive part(type) as (
                   select p.type from rowrelay.type_parts(of_type, 0) as p
                   union
                   select p.type from part cross join lateral rowrelay.type_parts(part.type, 0) as p
                 )
                 select from part join pg_type t on t.oid = part.type and t.typtype = 'd');
end
$$;
