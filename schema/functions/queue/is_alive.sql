-- Purpose:    whether a process with this last heartbeat counts as alive. A heartbeat in the future was sent while the
--             clock was ahead and tells nothing: a live process sends another within seconds.
-- Parameters: time of the last heartbeat (rowrelay.instance.heartbeat_at)
create or replace function rowrelay.is_alive(heard_at timestamptz) returns boolean
language sql stable as $$
  select heard_at between now() - interval '30 s' and now() + interval '30 s'
$$;
