-- Purpose:    returns the element type of an array type
-- Parameters: type
-- Result:     null: it is not an array type
create or replace function rowrelay.element_type(of_type oid) returns oid
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  -- pg_type has no index on typarray
  return (select e.oid from pg_type t join pg_type e on e.oid = t.typelem and e.typarray = t.oid where t.oid = of_type);
end
$$;
