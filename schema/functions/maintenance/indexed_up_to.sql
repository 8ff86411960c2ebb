-- Purpose:    tells how far the index of changes by key (rowrelay.change_key) is complete in the calling statement's
--             snapshot
-- Result:     up_to: the index has all changes up to this id; 0: it has none; from_day: later changes are in this
--             partition or a later one, null: in any
create or replace function rowrelay.indexed_up_to(out up_to bigint, out from_day date)
language plpgsql stable set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
declare
  known rowrelay.tick;
begin
  select t.* into known from rowrelay.tick t where t.indexed_to is null order by t.id desc limit 1;
  -- Some transactions that were writing at the tick may have ended since.
  up_to := coalesce(least(known.low, (
    select min(w.from_id)
      from unnest(known.writers, known.writers_from) as w(xid, from_id)
     where pg_visible_in_snapshot(w.xid, pg_current_snapshot())
        -- after a restore from a dump, transaction ids mean nothing
        or pg_snapshot_xmax(known.snapshot) > pg_snapshot_xmax(pg_current_snapshot()))), 0);
  from_day := known.open_from;
end
$$;
