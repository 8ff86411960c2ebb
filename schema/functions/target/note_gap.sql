-- Purpose:    notes that the targets of a table, and documents built from it, lack changes that were made while its
--             triggers were dropped or disabled; see view rowrelay.gaps
-- Parameters: capture
create or replace function rowrelay.note_gap(capture rowrelay.capture) returns void
language plpgsql as $$
begin
  insert into rowrelay.gap as g (capture, target)
  select capture.id, r.target from rowrelay.route r where r.capture = capture.id and r.until_id is null
  union
  select capture.id, s.document from rowrelay.document_source s where s.capture = capture.id
      on conflict on constraint gap_pkey do update set noted_at = excluded.noted_at;
end
$$;
