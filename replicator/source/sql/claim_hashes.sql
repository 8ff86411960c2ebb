-- Hashes that identify the rows of changes whose keys may be equal though their texts differ; see
-- rowrelay.row_hashes().
--   $1 [{"capture", "key"}]
with wanted as materialized (
  select w.capture, w.key, w.n
    from rows from (json_to_recordset($1::json) as (capture integer, key text)) with ordinality as w(capture, key, n)
)
select coalesce(h.hash, 0)
  from wanted w
  left join rowrelay.row_hashes((select array_agg(o.capture order by o.n) from wanted o),
                                (select array_agg(o.key order by o.n) from wanted o)) as h
    on h.capture = w.capture and h.key = w.key collate "C"
 order by w.n;
