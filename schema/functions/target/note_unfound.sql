-- Purpose:    notes that mirrors differ from tables without a key, because rows that were to be changed or deleted
--             there were not found; see view rowrelay.gaps
-- Parameters: target; captures that the changes are of, which may have been released and made again since
create or replace function rowrelay.note_unfound(target_id integer, captures integer[]) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into rowrelay.gap as g (capture, target, unfound)
  select distinct r.capture, r.target, true
    from unnest(captures) as u(capture)
    join rowrelay.capture c on c.id = u.capture
    join rowrelay.capture n on (n.id = c.id or c.relation <> 0 and n.relation = c.relation) and n.released_at is null
    join rowrelay.route r on r.capture = n.id and r.target = target_id and r.until_id is null
      on conflict on constraint gap_pkey do update set noted_at = excluded.noted_at
$$;
