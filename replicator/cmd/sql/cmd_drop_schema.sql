-- Removes what `rowrelay init` has made. Several statements: to be run as a script.
begin;
set local lock_timeout = '10s';
set local client_min_messages = warning;
select pg_catalog.pg_advisory_xact_lock(x'726f7772656c6179'::bigint); -- one installation at a time: 'rowrelay'
drop schema rowrelay cascade;
commit;
