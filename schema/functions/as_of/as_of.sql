-- Purpose:    returns a captured table as it was at a time, as in
--
--               select * from rowrelay.as_of(null::shop.orders, '2026-03-01 12:00');
--
--             A transaction counts if all of its changes were captured by then; a clock cannot tell when it committed.
--             For exact results while others write, use a snapshot: rowrelay.as_of_snapshot(). The columns are the
--             present ones: one that was added later has the value that unchanged rows have, columns left out of the
--             log are null, and masked columns have their mask, in all rows.
-- Parameters: null cast to the table's row type; at
-- Result:     its rows, in no order
-- Errors:     as for rowrelay.past_rows()
create or replace function rowrelay.as_of(relation anyelement, at timestamptz) returns setof anyelement
language sql stable as $$
  select * from rowrelay.past_rows(relation, at, null)
$$;
