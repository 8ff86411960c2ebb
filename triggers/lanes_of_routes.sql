-- Purpose:    returns where the changes of a capture are queued, as parameters lane, lane_count and more_lanes of
--             rowrelay.log_row()
-- Parameters: capture id
-- Result:     three constants
create or replace function rowrelay.lanes_of_routes(capture_id integer) returns text
language sql stable as $$
  select format('%s, %s, %L', coalesce((array_agg(l.first order by l.id))[1]::text, 'null'),
                coalesce((array_agg(l.lanes order by l.id))[1]::text, 'null'),
                '{' || string_agg(format('%s,%s', l.first, l.lanes), ',' order by l.id) filter (where l.place > 1)
                  || '}')
    from (select t.id, t.lanes, rowrelay.lane_number(t.id, 0) + rowrelay.waiting_room(r.capture, r.target) as first,
                 row_number() over (order by t.id) as place
            from rowrelay.route r join rowrelay.target t on t.id = r.target
           where r.capture = capture_id and r.until_id is null and t.dropped_at is null) as l
$$;
