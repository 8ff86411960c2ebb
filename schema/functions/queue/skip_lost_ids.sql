-- Purpose:    a server that crashed, was restored, or is a standby that took over may have forgotten the last change ids that it
--             had given out, while targets know them, and would take what comes under them next for what they have. So none of
--             those is given out again: the sequence goes on after the microseconds since 2026 began. That many changes no
--             source has made, so whatever its data was restored from, it is past all that was given out before, and two that
--             go on from the same data give out different ids. So does the sequence of the claims' tokens, or targets would
--             take new claims for old ones.
--             Every process calls it when it connects, before it claims anything. It is the same for every start of a server,
--             since a copy of its files that is put back cannot be told from what was there when it stopped. See
--             rowrelay.this_server() for how a start is told.
--             Where the clock is behind the sequence, it is a wrong clock, or one start has come right after another. Then the
--             sequence goes on after a gap, which is not always the same, for somebody else may go on from the same data.
-- Result:     goes_on_after: the change id after which it goes on; null when it is the server, and the start, that it was.
--             is_alarm: it is sure that this was no mere start of the server that it was
create or replace function rowrelay.skip_lost_ids(out goes_on_after bigint, out is_alarm boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  step   constant bigint := 1000000000; -- a day of 10,000 changes a second
  near   constant bigint := 1000000;    -- so many changes may have been forgotten where clocks differ by little
  clock  bigint;
  gap    bigint;
  this   record;
  last   text[];
  before bigint;
begin
  if pg_is_in_recovery() then
    return;
  end if;
  select * into this from rowrelay.this_server();
  select s.server into last from rowrelay.source s;
  if last = this.server then
    return;
  end if;
  -- A sequence does not wait for the transaction that has moved it on, so that one is not to be lost in a crash by itself.
  perform set_config('synchronous_commit', 'local', true);
  -- Who comes at the same time waits here until the sequence has moved on.
  select s.server into last from rowrelay.source s for update;
  if last = this.server then
    return;
  end if;
  is_alarm := last[1] is distinct from this.server[1] or last[3] is distinct from this.server[3] and this.is_empty;

  -- Two numbers that a database has of its own, and a restored dump has others.
  if substring(last[1] from '[0-9]+ [0-9]+$') is distinct from substring(this.server[1] from '[0-9]+ [0-9]+$') and last is not null then
    perform rowrelay.park_restored();
  end if;

  clock := extract(epoch from clock_timestamp() - timestamptz '2026-01-01 00:00:00+00') * 1000000;
  gap := step + (random() * step)::bigint;
  perform setval('rowrelay.claim_token', case when t.last_value + near < clock then clock else t.last_value + gap end)
    from rowrelay.claim_token t;
  -- In one breath, since writers may be at work: ids that they take between the two would be counted as skipped.
  select case when i.is_called then i.last_value else 0 end,
         setval('rowrelay.change_id', case when i.last_value + near < clock then clock else i.last_value + gap end)
    into before, goes_on_after
    from rowrelay.change_id i;
  update rowrelay.source s set server = this.server, ids_skipped = s.ids_skipped + goes_on_after - before;
end
$$;
