-- The wanted changes of a range of ids, the newest first: id, day and, with a snapshot, the mark of cmd_log_news.sql.
-- Operations that only rowrelay uses are left out unless asked for.
--   $1 ids greater than this  $2 and at most this; null: any  $3 their days  $4 only these ids; null: any
--   $5 tables  $6 key  $7 transaction  $8 actors or database users  $9 operations  $10 since  $11 until
--   $12 committed when this snapshot was taken ($5 to $12 null: any)  $13 maximum number
-- Gives found: change_id, day, mark
select h.change_id, h.day,
       case when $12::pg_snapshot is not null
            then hashtextextended(concat_ws(' ', h.txid, extract(epoch from h.captured_at)), 0) end as mark
  from rowrelay.history h
 where ($1::bigint is null or h.change_id > $1::bigint)
   and ($2::bigint is null or h.change_id <= $2::bigint)
   and h.day = any ($3::date[])
   and ($4::bigint[] is null or h.change_id = any ($4::bigint[]))
   and ($5::oid[] is null or h.relation = any ($5::oid[]))
   and ($6::text is null or h.key = $6::text)
   and ($7::xid8 is null or h.txid = $7::xid8)
   and ($8::text[] is null or h.actor = any ($8::text[]) or h.db_user = any ($8::text[]))
   and h.op = any (coalesce($9::text[], '{insert,update,delete,truncate,snapshot}'))
   and ($10::timestamptz is null or h.captured_at >= $10::timestamptz)
   and ($11::timestamptz is null or h.captured_at <= $11::timestamptz)
   and ($12::pg_snapshot is null or pg_visible_in_snapshot(h.txid, $12::pg_snapshot))
 order by h.change_id desc
 limit $13::bigint;
