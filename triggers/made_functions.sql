-- Purpose:    lists the functions that are made for a capture
-- Parameters: capture id
-- Result:     function; its name
create or replace function rowrelay.made_functions(capture_id integer, out made regprocedure, out name text)
  returns setof record
language sql stable as $$
  select p.oid, p.proname from pg_proc p
   where p.pronamespace = 'rowrelay'::regnamespace
     and p.proname in ('capture_' || capture_id, rowrelay.known_name(capture_id), rowrelay.rest_name(capture_id),
                       rowrelay.statement_name(capture_id))
$$;
