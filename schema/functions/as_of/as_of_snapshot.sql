-- Purpose:    returns a captured table exactly as a transaction with this snapshot (pg_current_snapshot()) saw it, even
--             while others were writing; see rowrelay.as_of()
-- Parameters: null cast to the table's row type; seen: the snapshot
-- Result:     its rows, in no order
-- Errors:     as for rowrelay.past_rows()
create or replace function rowrelay.as_of_snapshot(relation anyelement, seen pg_snapshot) returns setof anyelement
language sql stable as $$
  select * from rowrelay.past_rows(relation, null, seen)
$$;
