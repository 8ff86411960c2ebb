-- Purpose:    counts all changes of a transaction, readable by the caller or not, so that a part is not taken for the
--             whole
-- Parameters: txid
create or replace function rowrelay.changes_in_transaction(txid xid8) returns bigint
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select count(*) from rowrelay.changes_of_transaction(txid)
$$;
