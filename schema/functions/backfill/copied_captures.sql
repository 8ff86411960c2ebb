-- Purpose:    returns the captures whose queued changes are older than a copy of the table: its own, and those from
--             before it was released and captured again that were routed to the same table
-- Parameters: capture; target
-- Result:     capture ids
create or replace function rowrelay.copied_captures(capture_id integer, target_id integer) returns integer[]
language sql stable as $$
  select array(select c.id
                 from rowrelay.route own
                 join rowrelay.capture now on now.id = own.capture
                 join rowrelay.capture c on c.relation = now.relation
                 join rowrelay.route r on r.capture = c.id and r.target = own.target and r.into_table = own.into_table
                where own.capture = capture_id and own.target = target_id)
$$;
