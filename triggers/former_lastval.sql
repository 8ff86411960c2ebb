-- Purpose:    returns what lastval() is before this session takes a change id, which makes it that id. Drivers and ORMs
--             ask lastval() for the id of the row that they have inserted, so rowrelay.keep_lastval() puts it back. The
--             schema's owner may ask, because it owns the captured tables, or is a member of their owners, who mostly
--             own the sequences.
-- Result:     null: there was none in this session, or it may not be asked
create or replace function rowrelay.former_lastval() returns bigint
language plpgsql as $$
declare
  former pg_catalog.int8;
begin
  if pg_catalog.current_setting('exit_on_error') operator(pg_catalog.=) 'on' then
    return null; -- where an error that is caught ends the session, too
  end if;
  former := pg_catalog.lastval();
  return case when former operator(pg_catalog.>) -9000000000000000000 then former end; -- else of rowrelay.no_lastval
exception when others then
  return null;
end
$$;
