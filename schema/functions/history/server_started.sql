-- Purpose:    when this server was started, in microseconds since 1970: with the timeline it tells one run of a server
--             from all others that go on from the same data. A crash after which the postmaster goes on is the same
--             run, and so is a standby after it was promoted, which has another timeline then.
create or replace function rowrelay.server_started() returns bigint
language sql stable set search_path = pg_catalog, pg_temp as $$
  select (date_part('epoch', pg_postmaster_start_time()) * 1000000)::bigint
$$;
