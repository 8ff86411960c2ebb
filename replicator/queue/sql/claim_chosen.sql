-- Removes certain queued rows of a lane from the queue, as claim_rows.sql does the oldest.
--   $1 lane, whose lock this transaction holds, as an array  $2 change ids
-- Gives row: change_id, lane, day, bytes
with claimed as (
  delete from rowrelay.queue q
   where q.lane = any ($1::integer[]) and q.change_id = any ($2::bigint[])
  returning q.change_id, q.lane, q.day, q.bytes
)
select c.change_id, c.lane, c.day, c.bytes from claimed c order by c.change_id;
