-- Purpose:    hash by which a key is found in rowrelay.change_key; different keys may have the same
-- Parameters: capture; key, null for truncates, which have none
create or replace function rowrelay.key_hash(capture_id integer, key text) returns integer
language sql immutable parallel safe as $$
  select (pg_catalog.hashtextextended(coalesce(key, '') collate "C", capture_id) operator(pg_catalog.>>) 32)::integer
$$;
