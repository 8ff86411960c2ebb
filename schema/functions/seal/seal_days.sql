-- Purpose:    turns the sealing of the log on or off. While it is on, running processes seal each day that is over:
--             from then on rowrelay.verify_log() finds changes that were altered, removed or inserted. Earlier days are
--             sealed too, as they are. When it is off, sealed days stay sealed and can be verified.
-- Parameters: on: true turns it on
create or replace function rowrelay.seal_days("on" boolean default true) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  update rowrelay.source set seals = coalesce("on", true) where true
$$;
