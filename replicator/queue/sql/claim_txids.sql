-- The transactions and operations of queued changes: one line for each, in order of ids. See claim_changes.sql for the
-- days.
--   $1 change ids, ascending  $2 their days  $3 the same days, each once
-- Gives made: txid, operation
select h.txid, h.op as operation
  from unnest($1::bigint[], $2::date[]) as q(id, day)
  left join lateral (
    select c.txid, c.op from rowrelay.change c where c.id = q.id and c.day = q.day and c.day = any ($3::date[])
    offset 0) as h on true
 order by q.id;
