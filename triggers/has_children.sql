-- Purpose:    whether other tables inherit from a table, so that its rows may have further columns
-- Parameters: relation
-- Result:     false for a partitioned table
create or replace function rowrelay.has_children(relation regclass) returns boolean
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  return exists (select from pg_inherits i join pg_class c on c.oid = i.inhparent
                  where i.inhparent = relation and c.relkind = 'r');
end
$$;
