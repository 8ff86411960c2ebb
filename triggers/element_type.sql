-- Purpose:    what an array type is an array of
-- Parameters: type
-- Result:     null: it is no array
create or replace function rowrelay.element_type(of_type oid) returns oid
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  -- pg_type has no index on typarray
  return (select e.oid from pg_type t join pg_type e on e.oid = t.typelem and e.typarray = t.oid where t.oid = of_type);
end
$$;
