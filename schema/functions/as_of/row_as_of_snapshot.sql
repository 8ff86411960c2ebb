-- Purpose:    one row of a captured table as it was:  select * from rowrelay.row_as_of_snapshot(null::shop.orders, '42', ...)
-- Parameters: null of the table's row type; key: the text of a single column, a JSON array of several;
--             seen: a snapshot, see rowrelay.as_of_snapshot()
-- Result:     the row; none when it was not there
-- Errors:     as rowrelay.past_rows()
create or replace function rowrelay.row_as_of_snapshot(relation anyelement, key text, seen pg_snapshot) returns setof anyelement
language sql stable as $$
  select * from rowrelay.past_rows(relation, null, seen, coalesce(key, ''))
$$;
