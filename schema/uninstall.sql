-- Leaves the database as it was before schema/install.sql:  psql -f schema/uninstall.sql All captured changes are lost,
-- delivered or not. Each table is released in a transaction of its own, so that its lock is short. `rowrelay uninstall`
-- does the same.
\set ON_ERROR_STOP on
\set QUIET on
set search_path = pg_catalog, pg_temp;
\ir check_owner.sql
\ir check_dependents.sql
select format('select rowrelay.release_table(%L)', c.relation)
  from rowrelay.capture c
 where c.released_at is null and exists (select from pg_class r where r.oid = c.relation)
 order by c.id
\gexec
set client_min_messages = warning;
set lock_timeout = '10s';
begin;
\ir install_lock.sql
drop schema rowrelay cascade;
commit;
\ir drop_roles.sql
