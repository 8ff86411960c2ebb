-- Purpose:    where the numbers of a table's columns are valid: this server, this database, this table. pg_dump numbers
--             columns anew, so where a capture was stored elsewhere (rowrelay.capture.numbered_at), its numbers may
--             mean other columns; see rowrelay.renumbered().
-- Parameters: relation
create or replace function rowrelay.numbered_here(relation regclass) returns text
language plpgsql stable as $$
begin
  return concat_ws(' ', rowrelay.system_identifier(), rowrelay.database_oids(), relation::oid);
end
$$;
