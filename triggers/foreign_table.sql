-- Purpose:    returns SQL for whether a trigger function is called for a table that it does not capture. The owner of a
--             partitioned table needs the right to execute it (rowrelay.trigger_grants), and could attach it to another
--             one; a child that no longer inherits has its triggers until maintenance drops them.
-- Parameters: capture
-- Result:     a condition; null for a table that stands alone
create or replace function rowrelay.foreign_table(capture rowrelay.capture) returns text
language plpgsql stable as $$
begin
  return (
    select case when c.relkind = 'p'
                then format('tg_relid operator(pg_catalog.<>) all (%L::pg_catalog.oid[])'
                            ' and pg_catalog.pg_partition_root(tg_relid) is distinct from %L::pg_catalog.regclass'
                            ' and not rowrelay.is_of_capture(%s, tg_relid)',
                            rowrelay.captured_tables(capture)::oid[], c.oid, capture.id)
                when rowrelay.has_children(capture.relation)
                     or exists (select from pg_depend d join pg_trigger t on t.oid = d.objid
                                 where d.classid = 'pg_trigger'::regclass and d.refclassid = 'pg_proc'::regclass
                                   and d.refobjid = to_regprocedure(format('rowrelay.%I()', 'capture_' || capture.id))
                                   and t.tgrelid <> c.oid)
                then format('tg_relid operator(pg_catalog.<>) %1$s::pg_catalog.oid'
                            ' and not rowrelay.is_heir(tg_relid, %1$s::pg_catalog.oid)'
                            ' and rowrelay.sees_trigger(tg_relid) and not rowrelay.is_of_capture(%2$s, tg_relid)',
                            c.oid, capture.id) end
      from pg_class c where c.oid = capture.relation);
end
$$;
