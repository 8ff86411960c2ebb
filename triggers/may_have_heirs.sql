-- Purpose:    whether a trigger function is for more than one table: inheritance children have its triggers, or had
--             them until now
-- Parameters: capture of a table without partitions
create or replace function rowrelay.may_have_heirs(capture rowrelay.capture) returns boolean
language sql stable as $$
  select rowrelay.has_children(capture.relation)
      or exists (select from pg_depend d join pg_trigger t on t.oid = d.objid
                  where d.classid = 'pg_trigger'::regclass and d.refclassid = 'pg_proc'::regclass
                    and d.refobjid = to_regprocedure(format('rowrelay.%I()', 'capture_' || capture.id))
                    and t.tgrelid <> capture.relation)
$$;
