-- Purpose:    whether foreign tables are among a table's partitions and inheritance children. What a writer's trigger
--             runs must not read them: it would connect to another server, which may not answer, in a transaction that
--             can then not be prepared. It costs a writer nothing where the table is a constant: it is declared
--             immutable, as rowrelay.row_is_known() is, so PostgreSQL asks again when the table gets another part.
-- Parameters: a table
create or replace function rowrelay.has_foreign_parts(relation regclass) returns boolean
language plpgsql immutable set jit = off as $$
begin
  -- from below, because most databases have few foreign tables, and some tables have thousands of partitions
  return exists (select from pg_catalog.pg_foreign_table f
                   join pg_catalog.pg_inherits i on i.inhrelid operator(pg_catalog.=) f.ftrelid
                  where rowrelay.is_heir(f.ftrelid, relation));
end
$$;
