-- Purpose:    whether a table inherits from another, or from a table that does. A child that no longer inherits keeps
--             its triggers until maintenance drops them, and its rows are not the parent's any more.
-- Parameters: the two tables
-- Result:     false also for the parent itself
create or replace function rowrelay.is_heir(relation oid, parent oid) returns boolean
language plpgsql stable as $$
begin
  return exists (select from pg_catalog.pg_inherits i
                  where i.inhrelid operator(pg_catalog.=) relation and i.inhparent operator(pg_catalog.=) parent)
    or exists (select from pg_catalog.pg_inherits i
                where i.inhrelid operator(pg_catalog.=) relation and rowrelay.is_heir(i.inhparent, parent));
end
$$;
