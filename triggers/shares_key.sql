-- Purpose:    whether another row of a captured table has the key of a row that was just written. Foreign tables are
--             not looked at (rowrelay.has_foreign_parts).
-- Parameters: capture id; key as the log has it; the table with the row
-- Result:     null: unknown
create or replace function rowrelay.shares_key(capture_id integer, key text, relation oid) returns boolean
language plpgsql set jit = off as $$
begin
  return rowrelay.rows_with_key(capture_id, key, true) operator(pg_catalog.>)
         case when exists (select from pg_catalog.pg_foreign_table f
                            where f.ftrelid operator(pg_catalog.=) relation) then 0 else 1 end;
end
$$;
