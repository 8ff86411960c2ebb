-- Purpose:    the hash of a row whose key is told apart by its text, to be compared with others of its capture; see
--             rowrelay.row_hashes() for keys that are not
-- Parameters: key, null: none
-- Result:     never 0
create or replace function rowrelay.text_hash(key text) returns bigint
language sql immutable parallel safe as $$
  select coalesce(nullif(pg_catalog.hashtextextended(coalesce(key, '') collate "C", 0), 0), 1)
$$;
