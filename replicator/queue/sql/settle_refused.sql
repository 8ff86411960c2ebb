-- Records changes that were refused, or that wait behind a refused one.
--   $1 target
--   $2 [{"id", "lane", "day", "bytes", "capture", "key", "hash", "state", "attempts", "sqlstate", "message",
--      "kind", "detail"}]; hash only for keys that may be equal though their texts differ
insert into rowrelay.refusal (target, change_id, lane, day, bytes, capture, key, row_hash, state, attempts, sqlstate,
                              message, kind, detail)
select $1::integer, r.id, r.lane, r.day, r.bytes, r.capture, r.key, coalesce(r.hash, rowrelay.text_hash(r.key)),
       r.state, r.attempts, r.sqlstate, r.message, r.kind, r.detail
  from json_to_recordset($2::json) as r(id bigint, lane integer, day date, bytes integer, capture integer, key text,
                                        hash bigint, state text, attempts integer, sqlstate text, message text,
                                        kind text, detail text)
on conflict (target, change_id) do update
  set state = excluded.state, attempts = refusal.attempts + excluded.attempts, sqlstate = excluded.sqlstate,
      message = excluded.message, kind = excluded.kind, detail = excluded.detail, row_hash = excluded.row_hash,
      refused_at = excluded.refused_at;
