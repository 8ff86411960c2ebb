-- Which server process answers: see replicator/postgres/session.c.
select pg_catalog.pg_backend_pid();
