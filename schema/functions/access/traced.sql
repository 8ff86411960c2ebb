-- Purpose:    adds to what the log says of a change the trace to which the application's transaction belongs, and the
--             tables that the change has passed. It is called only where something of the session is unusual, as
--             rowrelay.trigger_body() finds.
-- Parameters: caveat of the change; null: none
-- Result:     the caveat with
--             traceparent: setting rowrelay.traceparent, if it is a header of that name by W3C's Trace Context, version
--             00; applying processes set it to "-", which is none, so that this function is called for what they write;
--             path: setting rowrelay.origin, if it is a list of captured tables (server/database/oid) with blanks
--             between them, and not just another mark of a process.
--             Else the caveat as it is, because no setting may let a writer fail.
create or replace function rowrelay.traced(caveat json) returns json
language plpgsql stable as $$
declare
  trace  constant pg_catalog.text := pg_catalog.current_setting('rowrelay.traceparent', true);
  origin constant pg_catalog.text := pg_catalog.current_setting('rowrelay.origin', true);
  shape  constant pg_catalog.text := '00-00000000000000000000000000000000-0000000000000000-00';
begin
  if pg_catalog.length(trace) operator(pg_catalog.=) 55
     -- a regular expression takes several times as long
     and pg_catalog.translate(trace, '-0123456789abcdef', '-0000000000000000') operator(pg_catalog.=) shape
     and pg_catalog.left(trace, 36) operator(pg_catalog.<>) pg_catalog.left(shape, 36)
     and pg_catalog.substr(trace, 37, 16) operator(pg_catalog.<>) pg_catalog.substr(shape, 37, 16)
     and pg_catalog.left(trace, 3) operator(pg_catalog.=) '00-'
  then
    caveat := pg_catalog.concat(coalesce(pg_catalog.left(caveat::pg_catalog.text, -1) operator(pg_catalog.||) ',', '{'),
                                '"traceparent":"', trace, '"}');
  end if;
  if origin operator(pg_catalog.<>) '' and pg_catalog.translate(origin, '/ 0123456789', '') operator(pg_catalog.=) ''
     and pg_catalog.length(origin) operator(pg_catalog.<) 8000 -- of a hundred tables
  then
    caveat := pg_catalog.concat(coalesce(pg_catalog.left(caveat::pg_catalog.text, -1) operator(pg_catalog.||) ',', '{'),
                                '"path":"', origin, '"}');
  end if;
  return caveat;
end
$$;
