-- Purpose:    whether this server may lack the latest deliveries: a standby took over, or the server was recovered to a
--             point in time. A standby for which all commits waited has them: each process says with its heartbeat
--             whether they do (rowrelay.instance.synchronous), and a recovered server's heartbeats are old.
-- Parameters: former, current: server[1] of rowrelay.this_server(), then and now
create or replace function rowrelay.may_have_forgotten(former text, current text) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select split_part(former, ' ', 1) = split_part(current, ' ', 1)
         and split_part(former, ' ', 2) <> split_part(current, ' ', 2)
         and not coalesce((select bool_and(i.synchronous) from rowrelay.instance i
                            where i.heartbeat_at > now() - interval '5 min'), false)
$$;
