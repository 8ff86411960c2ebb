-- Purpose:    locks the lanes of refused changes, as rowrelay.lock_lanes() does, and those of the barriers of their targets:
--             a TRUNCATE that is being delivered makes older refused changes moot
-- Parameters: target (null: all); change ids (null: all that were refused)
-- Result:     numbers of the lanes that have refused changes, ascending
create or replace function rowrelay.lock_refused_lanes(target text, change_ids bigint[]) returns integer[]
language plpgsql as $$
declare
  lanes integer[];
begin
  lanes := array(
    select distinct f.lane from rowrelay.refusal f
      join rowrelay.target t on t.id = f.target
     where f.state <> 'waiting'
       and (lock_refused_lanes.target is null or t.name = lock_refused_lanes.target and t.dropped_at is null)
       and (change_ids is null or f.change_id = any (change_ids))
     order by 1);
  perform rowrelay.lock_lanes(lanes || array(select distinct rowrelay.lane_number(l >> 12, -1) from unnest(lanes) as l));
  return lanes;
end
$$;
