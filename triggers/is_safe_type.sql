-- Purpose:    whether a type is built in, so that no user's code runs when a value of it becomes JSON or text. For
--             other types to_json() looks for a cast to json, and ::text for one to text; the type's owner may create
--             such a cast at any time, and it would run with the rights of the schema's owner. Output functions are
--             safe: only superusers can create them.
-- Parameters: type; a domain counts as its base type, because PostgreSQL ignores casts from domains
-- Result:     false also for a type that this transaction cannot see yet
create or replace function rowrelay.is_safe_type(of_type oid) returns boolean
language plpgsql stable as $$
begin
  return rowrelay.base_type(of_type) < 16384; -- the first oid of users' objects
end
$$;
