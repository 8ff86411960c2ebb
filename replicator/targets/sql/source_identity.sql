-- Identifies a database and the run of its server; a restored copy is another one.
select concat((date_part('epoch', pg_postmaster_start_time()) * 1000000)::bigint, ' ', d.oid)
  from pg_database d where d.datname = current_database();
