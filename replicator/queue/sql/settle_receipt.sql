-- Writes the receipts of a batch.
--   $1 token  $2 target  $3 instance  $4 when it was claimed
--   $5 [{"outcome", "answer", "attempts", "ids", "first_id", "last_id"}], see replicator/queue/receipts.h
--   $6 lanes in which the target has confirmed the claim; see targets/sql/confirmed_claims.sql
insert into rowrelay.receipt (token, part, target, outcome, answer, attempts, instance, host, pid, claimed_at,
                              settled_at, change_ids, first_id, last_id, lanes)
select $1::bigint, p.part - 1, $2::integer, p.outcome, p.answer, p.attempts, $3::uuid, i.host, i.pid, $4::timestamptz,
       clock_timestamp(), p.ids::bigint[], p.first_id, p.last_id, nullif($6::integer[], '{}')
  from rows from (json_to_recordset($5::json) as (outcome text, answer text, attempts integer, ids text,
                                                  first_id bigint, last_id bigint))
         with ordinality as p(outcome, answer, attempts, ids, first_id, last_id, part)
  left join rowrelay.instance i on i.id = $3::uuid;
