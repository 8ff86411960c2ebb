-- Purpose:    returns where a user's own text has its names looked up: a row filter, a document's query, a table's name
-- Result:     the search_path that a session of rowrelay had when it connected; in any other session, its search_path.
--             It is a default of parameters, and so evaluated as in the caller's session, whose search_path is its own.
create or replace function rowrelay.names_path() returns text
language sql stable as $$
  select case when pg_catalog.current_setting('rowrelay.search_path', true) operator(pg_catalog.<>) ''
              then pg_catalog.current_setting('rowrelay.search_path', true)
              else pg_catalog.current_setting('search_path') end
$$;
