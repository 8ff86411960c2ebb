-- Purpose:    notes that targets of a table, or documents built from it, lack changes that were made while nothing
--             captured them; see view rowrelay.gaps
-- Parameters: capture; targets (default: all)
create or replace function rowrelay.note_gap(capture_id integer, targets integer[] default null) returns void
language sql as $$
  insert into rowrelay.gap as g (capture, target)
  select capture_id, n.target
    from (select r.target from rowrelay.route r where targets is null and r.capture = capture_id and r.until_id is null
          union
          select s.document from rowrelay.document_source s where targets is null and s.capture = capture_id
          union
          select u.target from unnest(targets) as u(target)) as n(target)
      on conflict on constraint gap_pkey do update set noted_at = excluded.noted_at
$$;
