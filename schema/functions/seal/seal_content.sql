-- Purpose:    SHA-256 of the ids, captures and hashes in a block of seals
-- Parameters: ids, captures and hashes of rowrelay.seal
-- Result:     32 bytes
create or replace function rowrelay.seal_content(ids bigint[], captures integer[], hashes bytea) returns bytea
language sql immutable as $$
  select pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.concat(ids, captures),
                                                 'SQL_ASCII') operator(pg_catalog.||) hashes)
$$;
