-- For each table of which a target has refused a truncate: the first such change, behind which others wait.
--   $1 target  $2 captures  $3 changes of the batch where it was recorded as refused before its push
--   (lease_at_most_once.sql), else none
select w.capture, min(f.change_id)
  from unnest($2::integer[]) as w(capture)
  join rowrelay.refusal f
    on f.target = $1::integer and f.capture = any (rowrelay.captures_alike(w.capture)) and f.row_hash = 0
 where f.key is null and f.state <> 'waiting' and f.change_id <> all ($3::bigint[])
 group by w.capture;
