-- Purpose:    returns SQL for whether a trigger function is called for a table that it does not capture: the owner of a
--             partitioned table needs the right to execute it (rowrelay.trigger_grants), and could attach it to another
-- Parameters: capture
-- Result:     a condition; null for a table that is not partitioned
create or replace function rowrelay.foreign_table(capture rowrelay.capture) returns text
language plpgsql stable as $$
begin
  return (
    select format('tg_relid operator(pg_catalog.<>) all (%L::pg_catalog.oid[])'
                  ' and pg_catalog.pg_partition_root(tg_relid) is distinct from %L::pg_catalog.regclass',
                  rowrelay.captured_tables(capture)::oid[], c.oid)
      from pg_class c where c.oid = capture.relation and c.relkind = 'p');
end
$$;
