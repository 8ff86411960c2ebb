-- Puts back into the queue what was to be sent at most once and was not sent. Its lanes are still leased by the caller.
--   $1 target  $2 change ids
with unsent as (
  delete from rowrelay.refusal f where f.target = $1::integer and f.change_id = any ($2::bigint[])
  returning f.change_id, f.lane, f.day, f.bytes
), queued as (
  insert into rowrelay.queue (change_id, lane, day, bytes)
  select u.change_id, u.lane, u.day, u.bytes from unsent u
)
select rowrelay.rewind($1::integer, min(u.change_id)) from unsent u having count(*) > 0;
