-- Purpose:    whether a trigger function may look into its table by its name and sees all rows there
--             (rowrelay.sees_rows): another table may have the name by now
-- Parameters: the table with the row: the captured one, or a partition; the captured table; its name
create or replace function rowrelay.may_look(of_row oid, relation oid, name text) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  return rowrelay.sees_rows(of_row) and rowrelay.sees_rows(relation)
     and to_regclass(name)::oid is not distinct from relation;
end
$$;
