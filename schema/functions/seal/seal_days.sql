-- Purpose:    turns the sealing of the log on or off. While it is on, running processes seal each day that is over:
--             from then on rowrelay.verify_log() finds a change that was altered, removed or put in. Days that are in the
--             log already are sealed too, as they are. Off: what is sealed stays sealed, and can be verified.
-- Parameters: on: whether
create or replace function rowrelay.seal_days("on" boolean default true) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  update rowrelay.source set seals = coalesce("on", true)
$$;
