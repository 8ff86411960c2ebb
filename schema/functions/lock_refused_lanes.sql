-- Purpose:    waits until no batch is in flight in the lanes of refused changes, and keeps others out of them until the
--             transaction ends. To be called before anything else is locked: a batch that is about to halt its target
--             must not wait for us while we wait for its lane.
-- Parameters: target (null: all); change ids (null: all that were refused)
-- Result:     numbers of these lanes, ascending
create or replace function rowrelay.lock_refused_lanes(target text, change_ids bigint[]) returns integer[]
language plpgsql as $$
declare
  lanes integer[];
  lane  integer;
begin
  lanes := array(
    select distinct f.lane from rowrelay.refusal f
      join rowrelay.target t on t.id = f.target
     where f.state <> 'waiting'
       and (lock_refused_lanes.target is null or t.name = lock_refused_lanes.target and t.dropped_at is null)
       and (change_ids is null or f.change_id = any (change_ids))
     order by 1);
  foreach lane in array lanes loop
    perform pg_advisory_xact_lock(1919907698, lane);
  end loop;
  return lanes;
end
$$;
