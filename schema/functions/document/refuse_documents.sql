-- Purpose:    records documents that their target refused: each gets a change of its own in the log, so that it can be
--             retried
-- Parameters: document; [{"key", "attempts", "sqlstate", "message", "kind", "detail"}]
create or replace function rowrelay.refuse_documents(document_id integer, refused json) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  with refused as materialized (
    select * from json_to_recordset(refuse_documents.refused)
                    as r(key text, attempts integer, sqlstate text, message text, kind text, detail text)
  ), gone as (
    delete from rowrelay.refusal f
     using rowrelay.document d, refused r
     where d.target = document_id and f.target = d.target and f.capture = d.capture
       and f.row_hash = rowrelay.text_hash(r.key) and f.key = r.key
  ), logged as (
    insert into rowrelay.change (id, txid, captured_at, day, capture, op, key, db_user, application_name,
                                 client_addr, new_row)
    select rowrelay.next_change_id(), pg_current_xact_id(), clock_timestamp(), rowrelay.partition_day(), d.capture,
           'r', r.key, session_user, current_setting('application_name'), rowrelay.client_addr(),
           json_build_array(r.key)
      from refused r, rowrelay.document d where d.target = document_id
    returning id, day, capture, key, new_row
  )
  insert into rowrelay.refusal (target, change_id, lane, day, bytes, capture, key, row_hash, state, attempts, sqlstate,
                                message, kind, detail)
  select t.id, l.id, rowrelay.lane_number(t.id, mod(hashtext(l.key) & 2147483647, t.lanes / 2)), l.day,
         pg_column_size(l.new_row), l.capture, l.key, rowrelay.text_hash(l.key), 'error', r.attempts, r.sqlstate,
         r.message, r.kind, r.detail
    from logged l
    join refused r on r.key = l.key
    join rowrelay.target t on t.id = document_id;
end
$$;
