-- Purpose:    returns SQL that PostgreSQL only accepts where the rows of a table are of the same type as one that a
--             trigger was given, or that one's partition or child: a trigger function runs with the rights of the
--             schema's owner, and what it finds under a table's name could be somebody's view by then. Types are
--             compared when the statement is parsed, before a view's functions could run.
-- Parameters: names of the row that is read, and of the one that was given
-- Result:     a condition that is always true; it costs nothing
create or replace function rowrelay.same_row_type(row_read text, row_given text) returns text
language sql immutable as $$
  select format('(true or coalesce(%s, %s) is null)', row_read, row_given)
$$;
