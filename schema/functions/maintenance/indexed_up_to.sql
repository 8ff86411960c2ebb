-- Purpose:    how far the index of changes by key (rowrelay.change_key) is complete, as the calling statement's snapshot shows it
-- Result:     up_to: it need not have what has a larger id; 0 where it has nothing; from_day: such changes are in this
--             partition or a later one, null: in any
create or replace function rowrelay.indexed_up_to(out up_to bigint, out from_day date)
language plpgsql stable set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
declare
  known rowrelay.tick;
begin
  select t.* into known from rowrelay.tick t where t.indexed_to is null order by t.id desc limit 1;
  -- Of those who were writing at the tick, some may have ended since.
  up_to := coalesce(least(known.low, (
    select min(w.from_id)
      from unnest(known.writers, known.writers_from) as w(xid, from_id)
     where pg_visible_in_snapshot(w.xid, pg_current_snapshot())
        -- restored from a dump: ids of transactions mean nothing
        or pg_snapshot_xmax(known.snapshot) > pg_snapshot_xmax(pg_current_snapshot()))), 0);
  from_day := known.open_from;
end
$$;
