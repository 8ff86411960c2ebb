-- Purpose:    returns the captures whose queued changes are older than a copy of the table: its own, and those from
--             of what was routed to the same table before (rowrelay.captures_of_place)
-- Parameters: capture; target
-- Result:     capture ids
create or replace function rowrelay.copied_captures(capture_id integer, target_id integer) returns integer[]
language sql stable as $$
  select array(select r.capture
                 from rowrelay.route own
                 join rowrelay.route r on r.target = own.target and r.place = own.place
                where own.capture = capture_id and own.target = target_id
                  and r.capture = any (rowrelay.captures_of_place(capture_id, target_id)))
$$;
