-- Purpose:    replaces a domain by its base type, and an array of domains by an array of the base type
-- Parameters: type
-- Result:     type; the same for an array of domains over arrays, because no other type has its values
create or replace function rowrelay.plain_oid(of_type oid) returns oid
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
declare
  base constant oid := rowrelay.base_type(of_type);
begin
  return coalesce((select nullif(e.typarray, 0) from pg_type e
                    where e.oid = (select rowrelay.base_type(d.oid) from pg_type d
                                   where d.oid = rowrelay.element_type(base) and d.typtype = 'd')),
                  base);
end
$$;
