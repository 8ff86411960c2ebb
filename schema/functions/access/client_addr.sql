-- Purpose:    returns the client's address, for the log. It is declared immutable because a session's address never
--             changes: cached plans of triggers then have it as a constant, which costs nothing per row.
-- Result:     the address; null: a local socket
create or replace function rowrelay.client_addr() returns inet
language sql immutable parallel restricted as $$
  select pg_catalog.inet_client_addr()
$$;
