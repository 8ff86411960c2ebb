-- Purpose:    SHA-256 of a record of rowrelay.redaction
-- Parameters: the record
-- Result:     32 bytes
create or replace function rowrelay.redaction_content(redaction rowrelay.redaction) returns bytea
language sql stable as $$
  -- the text of a row tells null from empty, and quotes values, so that no two rows have the same text
  select pg_catalog.sha256(pg_catalog.convert_to(
    row(redaction.id, pg_catalog.encode(pg_catalog.timestamptz_send(redaction.redacted_at), 'hex'),
        redaction.redacted_by, redaction.reason, redaction.relation_name,
        redaction.keys, redaction.columns, redaction.change_ids,
        array(select pg_catalog.encode(h, 'hex')
              from pg_catalog.unnest(redaction.hashes_before) with ordinality as u(h, n) order by n),
        array(select pg_catalog.encode(h, 'hex')
              from pg_catalog.unnest(redaction.hashes_after) with ordinality as u(h, n) order by n))::text,
    case when pg_catalog.getdatabaseencoding() operator(pg_catalog.=) 'SQL_ASCII' then name 'SQL_ASCII'
      else name 'UTF8' end))
$$;
