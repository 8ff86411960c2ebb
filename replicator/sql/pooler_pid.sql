-- Which process of the server answers: see replicator/pooler.c.
select pg_catalog.pg_backend_pid();
