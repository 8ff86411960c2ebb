-- Purpose:    raises the error for a row of a table without a key that was removed more often than it existed
-- Parameters: relation; the row
-- Errors:     always no_data_found
create or replace function rowrelay.missing_row(relation regclass, row_text text) returns integer
language plpgsql stable as $$
begin
  raise exception 'the log of table % does not match the table', relation
    using errcode = 'no_data_found',
          detail = format('The log has a row that no longer exists: %s.', left(row_text, 200)),
          hint = 'Rows were changed without being captured: in a detached partition, or by a session with '
                 'rowrelay.skip set.';
end
$$;
