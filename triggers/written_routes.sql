-- Purpose:    returns where changes of a captured table go, according to its trigger function, if this transaction sees
--             tables as they were when it began (REPEATABLE READ, SERIALIZABLE): it may not see routes that were made
--             since, and what it writes would be missing there. PostgreSQL looks up functions by the latest committed
--             catalogs. The line is the first that it finds, above all names of users.
-- Parameters: capture id
-- Result:     what rowrelay.routes_line() wrote; null: read the tables
create or replace function rowrelay.written_routes(capture_id integer) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp set jit = off as $$
begin
  if current_setting('transaction_isolation') like 'read %' then
    return null;
  end if;
  return substring(pg_get_functiondef(to_regproc(format('rowrelay.capture_%s', capture_id)))
                   from E'(?n)^-- goes to (\\{.*\\})$');
end
$$;
