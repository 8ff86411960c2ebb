-- Purpose:    whether PostgreSQL itself made a type, so that nobody can have code of his run when one of its values becomes
--             JSON or text. to_json() looks for a cast to json of any other type, and ::text for one to text; the owner of
--             the type may make such a cast at any time, and it would run with the rights of the schema's owner. Output
--             functions are safe: only superusers make those.
-- Parameters: type; a domain counts as what it is made of, because casts from domains are never looked for
-- Result:     false also for a type that this transaction cannot see yet
create or replace function rowrelay.is_safe_type(of_type oid) returns boolean
language plpgsql stable as $$
begin
  return rowrelay.base_type(of_type) < 16384; -- where the numbers of users' objects begin
end
$$;
