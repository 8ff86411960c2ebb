-- Purpose:    how many changes a transaction made, whoever may read them, so that nobody takes a part of it for the whole
-- Parameters: txid
create or replace function rowrelay.changes_in_transaction(txid xid8) returns bigint
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select count(*) from rowrelay.changes_of_transaction(txid)
$$;
