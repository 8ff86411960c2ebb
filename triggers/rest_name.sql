-- Purpose:    returns the name of the function beside a trigger function; see rowrelay.rest_function()
-- Parameters: capture id
create or replace function rowrelay.rest_name(capture_id integer) returns text
language sql immutable as $$ select 'capture_' || capture_id || '_rest' $$;
