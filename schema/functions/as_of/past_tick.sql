-- Purpose:    finds the last tick before a time or snapshot: only changes not committed at that tick can be later
-- Parameters: at: a time, or null; seen: a snapshot, or null
-- Result:     from_id, from_day: later changes have larger ids and are in this partition or a later one; the lowest
--             values if there is no such tick
create or replace function rowrelay.past_tick(at timestamptz, seen pg_snapshot, out from_id bigint, out from_day date)
language plpgsql stable as $$
declare
  tick rowrelay.tick;
begin
  if seen is not null then
    select t.* into tick from rowrelay.tick t
     where pg_snapshot_xmax(t.snapshot) <= pg_snapshot_xmin(seen)
     order by pg_snapshot_xmax(t.snapshot) desc, t.id desc limit 1;
  else
    -- by id rather than by time, because the clock may have been set back
    select t.* into tick from rowrelay.tick t
     where t.id < coalesce((select min(l.id) from rowrelay.tick l where l.taken_at > at), 9223372036854775807)
     order by t.id desc limit 1;
  end if;
  from_id := coalesce(least(tick.low, (select min(f) from unnest(tick.writers_from) as f)), 0);
  from_day := coalesce(tick.open_from, '-infinity');
end
$$;
