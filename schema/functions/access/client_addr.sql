-- Purpose:    where this session came from, for the log. It is called immutable though it is not, because a session's address
--             never changes: the plans that triggers keep then hold it as a constant, and a row pays nothing for it.
-- Result:     the address; null: a local socket
create or replace function rowrelay.client_addr() returns inet
language sql immutable parallel restricted as $$
  select pg_catalog.inet_client_addr()
$$;
