-- Before a batch is pushed that must never be sent twice: removes it from the queue, and records it as refused until
-- its fate is known.
--   $1 target  $2 [{"id", "lane", "day", "bytes", "capture", "key", "hash"}]
with batch as materialized (
  select r.*, coalesce(r.hash, rowrelay.text_hash(r.key)) as row_hash
    from json_to_recordset($2::json) as r(id bigint, lane integer, day date, bytes integer, capture integer, key text,
                                          hash bigint)
), gone as (
  delete from rowrelay.queue q using batch b where q.lane = b.lane and q.change_id = b.id
)
insert into rowrelay.refusal (target, change_id, lane, day, bytes, capture, key, row_hash, state, attempts, message,
                              detail)
select $1::integer, b.id, b.lane, b.day, b.bytes, b.capture, b.key, b.row_hash, 'error', 1,
       'it was sent, and nobody knows whether it arrived',
       'The process ended before there was an answer; it is not sent again by itself (option guarantee=at-most-once).'
  from batch b;
