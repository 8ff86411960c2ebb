-- Which of these changes have to wait because an older change of their row was refused. A hash of 0 means that the row
-- is not known: it may be any row of the table.
--   $1 target  $2 [{"id", "capture", "key", "hash"}]; hash only for keys that may be equal though their texts differ
--   $3 ids of the batch where it was recorded as refused before its push (lease_at_most_once.sql), else none
with waiting as materialized (
  select w.id, w.capture, coalesce(w.hash, rowrelay.text_hash(w.key)) as hash
    from json_to_recordset($2::json) as w(id bigint, capture integer, key text, hash bigint)
)
select w.id
  from waiting w
 where exists (select from rowrelay.refusal f
                where f.target = $1::integer and f.capture = any (rowrelay.captures_alike(w.capture))
                  and f.row_hash in (w.hash, 0) and f.change_id < w.id and f.state <> 'waiting'
                  and f.change_id <> all ($3::bigint[]))
    or w.hash = 0
       and exists (select from rowrelay.refusal f
                    where f.target = $1::integer and f.capture = any (rowrelay.captures_alike(w.capture))
                      and f.change_id < w.id and f.state <> 'waiting'
                      and f.change_id <> all ($3::bigint[]));
