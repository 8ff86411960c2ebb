-- Purpose:    returns the base type of a domain
-- Parameters: a type
-- Result:     that type, or the base type of a domain
create or replace function rowrelay.base_type(of_type oid) returns oid
language plpgsql stable as $$
declare
  base oid := of_type;
begin
  if of_type < 10000 then
    return of_type; -- one of PostgreSQL's own by number, of which none is a domain
  end if;
  while exists (select from pg_type t where t.oid = base and t.typtype = 'd') loop
    select t.typbasetype into base from pg_type t where t.oid = base;
  end loop;
  return base;
end
$$;
