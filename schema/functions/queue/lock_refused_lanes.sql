-- Purpose:    locks the lanes of refused changes, as rowrelay.lock_lanes() does, and the barrier lanes of their
--             targets: a TRUNCATE in flight supersedes older refused changes. For a refused barrier it locks all lanes
--             of its target; for a row that can change lanes, or has done so, the barrier lane counts as one of its
--             lanes.
-- Parameters: target (null: all); change ids (null: all that were refused); held: captures whose waiting changes are
--             meant, too: then all lanes of targets that cannot take these tables, because any of them may be tried
--             right now
-- Result:     numbers of the lanes that it has locked. What was refused or set aside there while it waited is there
--             now: look again.
create or replace function rowrelay.lock_refused_lanes(target text, change_ids bigint[],
                                                       held integer[] default '{}') returns integer[]
language plpgsql as $$
declare
  lanes integer[];
begin
  lanes := array(
    select distinct u.lane from rowrelay.refusal f
      join rowrelay.target t on t.id = f.target
      join rowrelay.capture c on c.id = f.capture
     cross join unnest(case when rowrelay.can_change_lane(c) or c.lanes_since > f.change_id
                            then array[f.lane, rowrelay.lane_number(t.id, -1)]
                            else array[f.lane] end) as u(lane)
     where f.state <> 'waiting'
       and (lock_refused_lanes.target is null or t.name = lock_refused_lanes.target and t.dropped_at is null)
       and (change_ids is null or f.change_id = any (change_ids))
     order by 1);
  lanes := array(
    select distinct n
      from unnest(lanes) as l
     cross join unnest(case when rowrelay.lane_position(l) = -1 then rowrelay.lanes_of(rowrelay.lane_target(l))
                            else array[l, rowrelay.lane_number(rowrelay.lane_target(l), -1)] end) as n
    union
    select n
      from rowrelay.hold h join rowrelay.target t on t.id = h.target
     cross join unnest(rowrelay.lanes_of(t.id)) as n
     where h.capture = any (held) and (lock_refused_lanes.target is null or t.name = lock_refused_lanes.target));
  perform rowrelay.lock_lanes(lanes);
  return lanes;
end
$$;
