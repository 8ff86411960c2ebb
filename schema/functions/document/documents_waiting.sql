-- Purpose:    says how many documents are still to be built, for who waits for that
-- Parameters: document: its name; up_to: the last change that counts (null: all so far)
-- Result:     waiting: of those that were queued to be built again; of very many an estimate; up_to: the last change
--             that counts; state, errors, note: as in rowrelay.status
-- Errors:     no such document
create or replace function rowrelay.documents_waiting(document text, inout up_to bigint default null,
  out waiting bigint, out state text, out errors bigint, out note text)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  document_id constant integer := rowrelay.document_id(document);
  looked_at   constant integer := 10000;
  pieces      bigint;
begin
  up_to := coalesce(up_to, rowrelay.last_change_id());
  with piece as (
    select q.change_id, q.day, row_number() over () as n
      from rowrelay.target t
      cross join generate_series(-1, t.lanes - 1) as l(n)
      cross join lateral (select q.change_id, q.day from rowrelay.queue q
                           where q.lane = rowrelay.lane_number(t.id, l.n)
                             and q.change_id <= documents_waiting.up_to offset 0) as q
     where t.id = document_id
  )
  select (select count(*) from piece),
         coalesce(sum(case h.op when 'r' then json_array_length(h.new_row) else 0 end), 0)
    into pieces, waiting
    from piece p
    join rowrelay.change h on h.id = p.change_id and h.day = p.day
   where p.n <= looked_at;
  waiting := waiting * greatest(pieces, 1) / greatest(least(pieces, looked_at), 1);
  select s.state, s.errors, s.note into state, errors, note from rowrelay.status s where s.target = document;
end
$$;
