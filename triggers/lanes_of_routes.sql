-- Purpose:    returns where the changes of a capture are queued, as parameter lanes of rowrelay.log_row()
-- Parameters: capture id
-- Result:     text of an array: of each target the number of its first lane, and how many it has
create or replace function rowrelay.lanes_of_routes(capture_id integer) returns text
language sql stable as $$
  select '{' || coalesce(string_agg(format('%s,%s', rowrelay.lane_number(t.id, 0) + room, t.lanes), ',' order by t.id),
                         '') || '}'
    from rowrelay.route r join rowrelay.target t on t.id = r.target
   cross join lateral rowrelay.waiting_room(r.capture, r.target) as room
   where r.capture = capture_id and r.until_id is null and t.dropped_at is null
$$;
