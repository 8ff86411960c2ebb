-- Purpose:    creates a partition of rowrelay.change or rowrelay.change_key as a table, and attaches it, because that
--             does not block writers. It is read through its parent: what default privileges of the schema's owner
--             grant on new tables is revoked.
-- Parameters: parent, partition: their names in schema rowrelay; the partition has first_day and what precedes next_day
-- Errors:     lock_not_available: another session holds a lock on the parent
create or replace function rowrelay.add_partition(parent text, partition text, first_day date, next_day date)
  returns void
language plpgsql as $$
declare
  grantee text;
begin
  execute format('create table rowrelay.%I (like rowrelay.%I including all)', partition, parent);
  for grantee in
    select distinct case a.grantee when 0 then 'public' else a.grantee::regrole::text end
      from pg_class c, aclexplode(c.relacl) as a
     where c.oid = format('rowrelay.%I', partition)::regclass and a.grantee <> c.relowner
  loop
    execute format('revoke all on rowrelay.%I from %s', partition, grantee);
  end loop;
  execute format('alter table rowrelay.%I attach partition rowrelay.%I for values from (%L) to (%L)', parent, partition,
                 first_day, next_day);
end
$$;
