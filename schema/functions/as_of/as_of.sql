-- Purpose:    a captured table as it was at a time:  select * from rowrelay.as_of(null::shop.orders, '2026-03-01 12:00')
--             A transaction counts when all that was captured of it was written by then; by a clock nobody can say when it
--             was committed. What must be exact while others write is told by a snapshot: rowrelay.as_of_snapshot().
--             Columns are those of now: one that was added later shows what a row shows that was not written since, what
--             is left out of the log is null, and what is masked shows its mask, in all rows.
-- Parameters: null of the table's row type; at
-- Result:     its rows, in no order
-- Errors:     as rowrelay.past_rows()
create or replace function rowrelay.as_of(relation anyelement, at timestamptz) returns setof anyelement
language sql stable as $$
  select * from rowrelay.past_rows(relation, at, null)
$$;
