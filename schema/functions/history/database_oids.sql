-- Purpose:    two oids that differ in a restored dump and in a copy of the database
create or replace function rowrelay.database_oids() returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select format('%s %s', d.oid, 'rowrelay.change_id'::regclass::oid)
    from pg_database d
   where d.datname = current_database();
$$;
