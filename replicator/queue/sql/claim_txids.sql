-- The transactions and operations of queued changes: one line for each, in order of ids. See claim_changes.sql for the
-- days. The transaction is negative if it is of before the database was restored from a dump, when transactions had
-- other numbers.
--   $1 change ids, ascending  $2 their days  $3 the same days, each once
-- Gives made: txid, operation
select case when h.id <= s.restored_id then '-' else '' end || h.txid::text as txid, h.op as operation
  from rowrelay.source s
  cross join unnest($1::bigint[], $2::date[]) as q(id, day)
  left join lateral (
    select c.id, c.txid, c.op from rowrelay.change c where c.id = q.id and c.day = q.day and c.day = any ($3::date[])
    offset 0) as h on true
 order by q.id;
