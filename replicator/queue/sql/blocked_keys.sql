-- Which of these changes must wait, because an older one of their row was refused. Of a row whose hash is 0 it is not
-- known which one it is: it may be any of its table.
--   $1 target  $2 [{"id", "capture", "key", "hash"}]; hash: of keys that are not told apart by their texts
with waiting as materialized (
  select w.id, w.capture, coalesce(w.hash, rowrelay.text_hash(w.key)) as hash
    from json_to_recordset($2::json) as w(id bigint, capture integer, key text, hash bigint)
)
select w.id
  from waiting w
 where exists (select from rowrelay.refusal f
                where f.target = $1::integer and f.capture = any (rowrelay.captures_alike(w.capture)) and f.row_hash in (w.hash, 0)
                  and f.change_id < w.id and f.state <> 'waiting')
    or w.hash = 0
       and exists (select from rowrelay.refusal f
                    where f.target = $1::integer and f.capture = any (rowrelay.captures_alike(w.capture)) and f.change_id < w.id
                      and f.state <> 'waiting');
