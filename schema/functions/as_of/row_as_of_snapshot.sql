-- Purpose:    returns one row of a captured table as it was in a snapshot
-- Parameters: null cast to the table's row type; key: the text of a single column, a JSON array of several;
--             seen: a snapshot, see rowrelay.as_of_snapshot()
-- Result:     the row; none if it did not exist
-- Errors:     as for rowrelay.past_rows()
create or replace function rowrelay.row_as_of_snapshot(relation anyelement, key text, seen pg_snapshot)
  returns setof anyelement
language sql stable as $$
  select * from rowrelay.past_rows(relation, null, seen, coalesce(key, ''))
$$;
