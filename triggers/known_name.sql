-- Purpose:    returns the name of the function by which the partitions of a table know their rows; see
--             rowrelay.ordinary_body()
-- Parameters: capture id
create or replace function rowrelay.known_name(capture_id integer) returns text
language sql immutable as $$ select 'capture_' || capture_id || '_known' $$;
