-- Purpose:    a captured table as a transaction saw it that had this snapshot (pg_current_snapshot()), exactly, also while
--             others were writing; see rowrelay.as_of()
-- Parameters: null of the table's row type; seen
-- Result:     its rows, in no order
-- Errors:     as rowrelay.past_rows()
create or replace function rowrelay.as_of_snapshot(relation anyelement, seen pg_snapshot) returns setof anyelement
language sql stable as $$
  select * from rowrelay.past_rows(relation, null, seen)
$$;
