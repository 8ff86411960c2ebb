-- Purpose:    adds the trace to which the application's transaction belongs to what the log says of a change. It is
--             called only where something of the session is unusual, as rowrelay.trigger_body() finds.
-- Parameters: caveat of the change; null: none
-- Result:     the caveat with traceparent, if setting rowrelay.traceparent is a header of that name by W3C's Trace
--             Context, version 00; else the caveat as it is, because no setting may let a writer fail
create or replace function rowrelay.traced(caveat json) returns json
language plpgsql stable as $$
declare
  trace constant pg_catalog.text := pg_catalog.current_setting('rowrelay.traceparent', true);
  shape constant pg_catalog.text := '00-00000000000000000000000000000000-0000000000000000-00';
begin
  if pg_catalog.length(trace) operator(pg_catalog.=) 55
     -- a regular expression takes several times as long
     and pg_catalog.translate(trace, '-0123456789abcdef', '-0000000000000000') operator(pg_catalog.=) shape
     and pg_catalog.left(trace, 36) operator(pg_catalog.<>) pg_catalog.left(shape, 36)
     and pg_catalog.substr(trace, 37, 16) operator(pg_catalog.<>) pg_catalog.substr(shape, 37, 16)
     and pg_catalog.left(trace, 3) operator(pg_catalog.=) '00-'
  then
    return pg_catalog.concat(coalesce(pg_catalog.left(caveat::pg_catalog.text, -1) operator(pg_catalog.||) ',', '{'),
                             '"traceparent":"', trace, '"}');
  end if;
  return caveat;
end
$$;
