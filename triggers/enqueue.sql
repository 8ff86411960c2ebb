-- Purpose:    queues a change for every target that its table is routed to, and for the documents that it affects, as
--             the generated triggers do inline
-- Parameters: the change as it is in the log; hash that chooses the lane, null for a barrier
create or replace function rowrelay.enqueue(change rowrelay.change, lane_hash integer) returns void
language plpgsql as $$ -- rather than SQL, because its plans are kept
declare
  bytes constant integer := coalesce(pg_column_size(change.old_row), 0) + coalesce(pg_column_size(change.new_row), 0);
begin
  insert into rowrelay.queue (change_id, lane, day, bytes)
  select change.id,
         rowrelay.lane_number(r.target, coalesce(mod(lane_hash & 2147483647, r.lanes), -1))
           + rowrelay.waiting_room(change.capture, r.target),
         change.day, bytes
    from rowrelay.present_routes(change.capture) as r
   where change.op <> 'r';
  if change.op <> 'b' then
    insert into rowrelay.queue (change_id, lane, day, bytes)
    select change.id, lane, change.day, bytes
      from rowrelay.document_lanes(change.capture, change.op, lane_hash, change.old_row, change.new_row) as lane;
  end if;
  if change.id <= pg_sequence_last_value('rowrelay.doorbell'::regclass) then
    perform rowrelay.ring_doorbell();
  end if;
end
$$;
