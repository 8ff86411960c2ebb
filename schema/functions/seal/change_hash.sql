-- Purpose:    SHA-256 of a change of the log, independent of the session's settings and the server's version. The
--             lengths in front tell apart values that would read the same when put together.
-- Parameters: change; salt, without which the hash does not help to guess the values
-- Result:     32 bytes
create or replace function rowrelay.change_hash(change rowrelay.change, salt bytea) returns bytea
language sql stable as $$
  select pg_catalog.sha256(salt operator(pg_catalog.||) pg_catalog.convert_to(
    pg_catalog.concat_ws('|', change.id, change.txid,
                         pg_catalog.encode(pg_catalog.timestamptz_send(change.captured_at), 'hex'),
                         change.day operator(pg_catalog.-) date '2000-01-01', change.capture, change.op,
                         coalesce(pg_catalog.length(change.key), -1), coalesce(pg_catalog.length(change.actor), -1),
                         coalesce(pg_catalog.length(change.db_user), -1),
                         coalesce(pg_catalog.length(change.application_name), -1),
                         coalesce(pg_catalog.text(change.client_addr), '-'),
                         coalesce(pg_catalog.length(change.old_row::text), -1),
                         coalesce(pg_catalog.length(change.new_row::text), -1),
                         coalesce(pg_catalog.length(change.caveat::text), -1),
                         pg_catalog.concat(change.key, change.actor, change.db_user, change.application_name,
                                           change.old_row,
                                           change.new_row, change.caveat)),
    case when pg_catalog.getdatabaseencoding() operator(pg_catalog.=) 'SQL_ASCII' then name 'SQL_ASCII'
      else name 'UTF8' end))
$$;
