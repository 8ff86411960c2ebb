-- Purpose:    what the log has of one row
-- Parameters: relation; key as text
-- Result:     its changes, the newest first
create or replace function rowrelay.changes_to_undo(relation regclass, key text) returns setof rowrelay.change
language sql stable as $$
  select h.*
    from rowrelay.changes_of_key(relation, key) as f
    cross join lateral (select c.* from rowrelay.readable_change c where c.id = f.change_id and c.day = f.day offset 0) as h
   order by h.id desc
$$;
