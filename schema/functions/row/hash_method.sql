-- Purpose:    identifies how rowrelay.row_hashes() hashes the keys of a capture on this server: another type of the
--             key, another version of a collation, or another major version of PostgreSQL may give other hashes
-- Parameters: capture
-- Result:     a digest; null: the keys cannot be hashed
create or replace function rowrelay.hash_method(capture rowrelay.capture) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select encode(sha256(convert_to(concat_ws(' ', current_setting('server_version_num')::integer / 10000,
                       -- that of the database, by which citext lowers the case; then those that types may hash by
                       (select string_agg(format('%s:%s', c.oid, pg_collation_actual_version(c.oid)), ' '
                                          order by c.oid)
                          from pg_collation c where c.oid = 'pg_catalog."default"'::regcollation
                                                 or not c.collisdeterministic),
                       s.statement), getdatabaseencoding())), 'hex')
    from rowrelay.hash_statement(capture) as s(statement) where s.statement is not null
$$;
