-- Purpose:    whether reading a value of a type may run a user's CHECK, because an array, range or row in it has a
--             domain inside. (For a domain, or an array of one, the base type is used, see rowrelay.plain_oid().)
-- Parameters: type
create or replace function rowrelay.has_inner_domain(of_type oid) returns boolean
language plpgsql stable set jit = off as $$ -- compiling it takes a second, and it is called for each search
begin
  return exists (with recursive part(type) as (
                   select p.type from rowrelay.type_parts(of_type, 0) as p
                   union
                   select p.type from part cross join lateral rowrelay.type_parts(part.type, 0) as p
                 )
                 select from part join pg_type t on t.oid = part.type and t.typtype = 'd');
end
$$;
