-- Purpose:    whether this server may lack the latest deliveries: a standby took over, or the server was recovered to a
--             point in time. A standby for which commits waited has them, but nobody can tell here that this one is
--             such a standby: whoever promotes no others says so (setting rowrelay.standbys of the database).
-- Parameters: former, current: rowrelay.this_server(), then and now
create or replace function rowrelay.may_have_forgotten(former text[], current text[]) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select former[1] = current[1] and former[4] <> current[4]
         and current_setting('rowrelay.standbys', true) is distinct from 'synchronous'
$$;
