-- Purpose:    returns one row of a captured table as it was:  select * from rowrelay.row_as_of(null::shop.orders, '42',
--             ...)
-- Parameters: null cast to the table's row type; key: the text of a single column, a JSON array of several;
--             at: a time, see rowrelay.as_of()
-- Result:     the row; none if it did not exist
-- Errors:     as for rowrelay.past_rows()
create or replace function rowrelay.row_as_of(relation anyelement, key text, at timestamptz) returns setof anyelement
language sql stable as $$
  select * from rowrelay.past_rows(relation, at, null, coalesce(key, ''))
$$;
