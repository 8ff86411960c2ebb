-- Purpose:    queues documents for a refresh, in pieces of some hundred keys, each logged as a change with operation r.
--             Many keys go to the document's late lanes, which are delivered after those of live changes.
-- Parameters: document; a query with $1 that returns keys as text; its parameter
-- Result:     number of keys
create or replace function rowrelay.queue_documents(document_id integer, keys_query text, parameter text) returns bigint
language plpgsql as $$
declare
  -- keys per piece; fewer keys than that in all do not go to the late lanes
  piece_size constant integer := 200;
  document   rowrelay.document;
  lanes      integer;
  queued     bigint;
begin
  select d.* into strict document from rowrelay.document d where d.target = document_id;
  select t.lanes / 2 into strict lanes from rowrelay.target t where t.id = document_id;
  execute format($sql$
    with wanted as (
      select w.key, mod(hashtext(w.key) & 2147483647, $2) as lane, count(*) over () > $3 as late
        from (%s) as w(key)
    ), numbered as (
      select w.*, row_number() over (partition by w.lane) / $3 as piece from wanted w
    ), piece as (
      select json_agg(n.key) as keys, count(*) as n, bool_or(n.late) as late from numbered n group by n.lane, n.piece
    ), logged as (
      insert into rowrelay.change (id, txid, captured_at, day, capture, op, db_user, application_name, client_addr,
                                   new_row)
      select rowrelay.next_change_id(), pg_current_xact_id(), clock_timestamp(), rowrelay.partition_day(), $4, 'r',
             session_user, current_setting('application_name'), rowrelay.client_addr(), p.keys from piece p
      returning id, day, new_row
    ), queued as (
      insert into rowrelay.queue (change_id, lane, day, bytes)
      select l.id,
             rowrelay.lane_number($5, mod(hashtext(l.new_row ->> 0) & 2147483647, $2)
                                        + case when (select bool_or(p.late) from piece p) then $2 else 0 end),
             l.day, pg_column_size(l.new_row)
        from logged l
    )
    select coalesce(sum(p.n), 0) from piece p $sql$, keys_query)
    into queued using parameter, lanes, piece_size, document.capture, document_id;
  if queued > 0 and pg_sequence_last_value('rowrelay.doorbell'::regclass) > 0 then
    perform rowrelay.ring_doorbell();
  end if;
  return queued;
end
$$;
