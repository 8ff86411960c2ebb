-- Purpose:    forgets that a target lacks changes, because somebody has repaired it
-- Parameters: target; capture (null: all); noted_at: the last time of view rowrelay.gaps when the repair began, so that
--             a later gap stays
create or replace function rowrelay.close_gap(target_id integer, capture_id integer, noted_at timestamptz) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  delete from rowrelay.gap g
   where g.target = target_id and g.capture = coalesce(capture_id, g.capture) and g.noted_at <= close_gap.noted_at
$$;
