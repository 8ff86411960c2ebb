-- The wanted changes that were committed between two snapshots, the oldest first: id, day, and a mark that tells a
-- change from another one with its id, which there is when a crash made the server forget the first.
--   $1 ids greater than this  $2 first day; null: any  $3 days before this one; null: any
--   $4 the earlier snapshot  $5 the later one  $6 also all with greater ids that the later one sees; null: none
--   $7 transactions from this one on  $8 tables  $9 actors or database users  $10 operations  $11 since  $12 until
--   $13 key  $14 transaction  $15 maximum number
-- Gives found: change_id, day, mark
select h.change_id, h.day, hashtextextended(concat_ws(' ', h.txid, extract(epoch from h.captured_at)), 0) as mark
  from rowrelay.history h
 where h.change_id > $1::bigint
   and ($2::date is null or h.day >= $2::date)
   and ($3::date is null or h.day < $3::date)
   and (not pg_visible_in_snapshot(h.txid, $4::pg_snapshot) or h.change_id > $6::bigint)
   and pg_visible_in_snapshot(h.txid, $5::pg_snapshot)
   and (h.txid >= $7::xid8 or h.change_id > $6::bigint)
   and ($8::oid[] is null or h.relation = any ($8::oid[]))
   and ($9::text[] is null or h.actor = any ($9::text[]) or h.db_user = any ($9::text[]))
   and h.op = any (coalesce($10::text[], '{insert,update,delete,truncate,snapshot}'))
   and ($11::timestamptz is null or h.captured_at >= $11::timestamptz)
   and ($12::timestamptz is null or h.captured_at <= $12::timestamptz)
   and ($13::text is null or h.key = $13::text or h.op = 'truncate'
        or (select bool_or(not c.key_is_exact) from rowrelay.capture c where c.relation = any ($8::oid[]))
           and exists (select from rowrelay.capture c
                        where c.relation = h.relation and rowrelay.is_key_of_row(c.id, h.key, $13::text)))
   and ($14::xid8 is null or h.txid = $14::xid8)
 order by h.change_id
 limit $15::bigint;
