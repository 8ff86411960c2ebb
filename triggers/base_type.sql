-- Purpose:    returns the base type of a domain
-- Parameters: a type
-- Result:     that type, or the base type of a domain
create or replace function rowrelay.base_type(of_type oid) returns oid
language plpgsql stable as $$
declare
  base oid := of_type;
begin
  while exists (select from pg_type t where t.oid = base and t.typtype = 'd') loop
    select t.typbasetype into base from pg_type t where t.oid = base;
  end loop;
  return base;
end
$$;
