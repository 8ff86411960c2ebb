-- Captures one of the scratch tables, for a target of its own, as the schema's owner, who has to own it.
savepoint before_capture;
select pg_catalog.set_config('role', r.rolname, true)
  from pg_catalog.pg_namespace n join pg_catalog.pg_roles r on r.oid = n.nspowner where n.nspname = 'rowrelay';
select rowrelay.add_target('rowrelay_doctor', 'stdout:');
select rowrelay.capture_table(pg_catalog.to_regclass('rowrelay_doctor.captured'), target => 'rowrelay_doctor');
reset role;
