-- A target that keeps rows' states has no use for a refused change of a row that a newer one has replaced, nor for those
-- of a table that was truncated since.
--   $1 target  $2 [{"id", "capture", "key"}] of what was delivered; key is null for a truncate
--   $3 token  $4 instance  $5 when the batch was claimed
with gone as (
  delete from rowrelay.refusal f
   using json_to_recordset($2::json) as d(id bigint, capture integer, key text)
   where f.target = $1::integer and f.capture = d.capture and (f.key = d.key or d.key is null) and f.change_id < d.id
     and f.state <> 'waiting' -- nothing overtakes those, of which there may be millions
  returning f.change_id, f.message as error
)
insert into rowrelay.receipt (token, part, target, outcome, error, attempts, instance, host, pid, claimed_at, settled_at,
                              change_ids, first_id, last_id)
select $3::bigint, - row_number() over (order by g.error), $1::integer, 'superseded', g.error, 0, $4::uuid, i.host, i.pid,
       $5::timestamptz, clock_timestamp(), array_agg(g.change_id order by g.change_id), min(g.change_id), max(g.change_id)
  from gone g
  left join rowrelay.instance i on i.id = $4::uuid
 group by g.error, i.host, i.pid;
