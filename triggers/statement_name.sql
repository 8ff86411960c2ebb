-- Purpose:    returns the name of the function that a capture's statement triggers run
-- Parameters: capture id
create or replace function rowrelay.statement_name(capture_id integer) returns text
language sql immutable as $$ select 'capture_' || capture_id || '_statement' $$;
