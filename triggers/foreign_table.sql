-- Purpose:    returns SQL for whether a trigger function is called for a table that it does not capture. The owner of a
--             partitioned table needs the right to execute it (rowrelay.trigger_grants), and could attach it to another
--             one; a table that is restored from a dump, also beside the captured one, has the triggers of that; and a
--             child that no longer inherits has its triggers until maintenance drops them.
-- Parameters: capture
-- Result:     a condition; null where the table is gone
create or replace function rowrelay.foreign_table(capture rowrelay.capture) returns text
language plpgsql stable as $$
begin
  return (
    select case when c.relkind = 'p'
                then format('tg_relid operator(pg_catalog.<>) all (%L::pg_catalog.oid[])'
                            ' and pg_catalog.pg_partition_root(tg_relid) is distinct from %L::pg_catalog.regclass'
                            ' and not rowrelay.is_of_capture(%s, tg_relid)',
                            rowrelay.captured_tables(capture)::oid[], c.oid, capture.id)
                else format('tg_relid operator(pg_catalog.<>) %s::pg_catalog.oid', c.oid)
                  || case when rowrelay.may_have_heirs(capture) then
                            format(' and not rowrelay.is_heir(tg_relid, %s::pg_catalog.oid)'
                                   ' and rowrelay.sees_trigger(tg_relid)', c.oid) else '' end
                  || format(' and not rowrelay.is_of_capture(%s, tg_relid)', capture.id) end
      from pg_class c where c.oid = capture.relation);
end
$$;
