-- Purpose:    returns the hash of a key that equals another only in the same spelling; see rowrelay.row_hashes() for
--             other keys
-- Parameters: key, null: none
-- Result:     never 0
create or replace function rowrelay.text_hash(key text) returns bigint
language sql immutable parallel safe as $$
  select coalesce(nullif(pg_catalog.hashtextextended(coalesce(key, '') collate "C", 0), 0), 1)
$$;
