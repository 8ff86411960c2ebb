-- Purpose:    whether a process that last said so then counts as alive. A time that is to come was said while the clock was
--             ahead, by nobody knows whom: whoever is alive says so again within seconds.
-- Parameters: when it was heard of (rowrelay.instance.heartbeat_at)
create or replace function rowrelay.is_alive(heard_at timestamptz) returns boolean
language sql stable as $$
  select heard_at between now() - interval '30 s' and now() + interval '30 s'
$$;
