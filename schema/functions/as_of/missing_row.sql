-- Purpose:    ends a statement in which a row of a table without a key was taken away more often than it was there
-- Parameters: relation; the row
-- Errors:     no_data_found, always
create or replace function rowrelay.missing_row(relation regclass, row_text text) returns integer
language plpgsql stable as $$
begin
  raise exception 'the log of table % does not fit the table', relation
    using errcode = 'no_data_found',
          detail = format('It says that a row was written that is not there any more: %s.', left(row_text, 200)),
          hint = 'Rows were changed without being captured: by a partition that was detached, or with rowrelay.skip.';
end
$$;
