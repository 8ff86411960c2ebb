-- Purpose:    queues a change for every target that its table is routed to; what the generated triggers do in line
-- Parameters: the change; its capture; hash that chooses the lane, null for a barrier; bytes of its images
create or replace function rowrelay.enqueue(change_id bigint, change_day date, capture_id integer, lane_hash integer,
                                            bytes integer) returns void
language plpgsql as $$ -- rather than SQL, because its plans are kept
begin
  insert into rowrelay.queue (change_id, lane, day, bytes)
  select enqueue.change_id, rowrelay.lane_number(t.id, coalesce(mod(lane_hash & 2147483647, t.lanes::integer), -1)), change_day,
         enqueue.bytes
    from rowrelay.route r
    join rowrelay.target t on t.id = r.target
   where r.capture = capture_id and r.until_id is null and t.dropped_at is null;
  if enqueue.change_id <= pg_sequence_last_value('rowrelay.doorbell'::regclass) then
    perform rowrelay.ring_doorbell();
  end if;
end
$$;
