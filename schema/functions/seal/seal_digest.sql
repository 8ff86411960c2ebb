-- Purpose:    the digest of a seal, which depends on all seals before it
-- Parameters: seal; digest of the one before (null: it is the first)
-- Result:     32 bytes
create or replace function rowrelay.seal_digest(seal rowrelay.seal, previous bytea) returns bytea
language sql stable as $$
  select pg_catalog.sha256(
    coalesce(previous, '') operator(pg_catalog.||)
    pg_catalog.convert_to(row(seal.position, pg_catalog.encode(pg_catalog.timestamptz_send(seal.sealed_at), 'hex'),
                              seal.day operator(pg_catalog.-) date '2000-01-01', seal.block, seal.ends_day,
                              seal.first_id, seal.last_id, seal.changes, seal.redaction)::text, 'SQL_ASCII')
    operator(pg_catalog.||) seal.content)
$$;
