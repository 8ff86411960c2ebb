-- Purpose:    returns SQL for a system column of a row in a generated function, which loses it when the row is passed
--             on
-- Parameters: new or old; name of the column; is_apart: as for rowrelay.trigger_body()
-- Result:     an expression
create or replace function rowrelay.system_column(row_name text, column_name text, is_apart boolean) returns text
language sql immutable as $$ select row_name || case when is_apart then '_' else '.' end || column_name $$;
