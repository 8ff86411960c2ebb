-- Puts changes that were claimed and not settled back into the queue.
--   $1 [{"id", "lane", "day", "bytes"}]
insert into rowrelay.queue (change_id, lane, day, bytes)
select r.id, r.lane, r.day, r.bytes
  from json_to_recordset($1::json) as r(id bigint, lane integer, day date, bytes integer);
