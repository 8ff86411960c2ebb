-- Purpose:    stops sending the changes of a table to a target. What is queued is still delivered, unless the table is
--             being copied there as a whole.
-- Parameters: relation; target
-- Errors:     table not captured; no such target; the table is not routed there
create or replace function rowrelay.unroute(relation regclass, target text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  capture   rowrelay.capture := rowrelay.captured(relation);
  target_id integer := rowrelay.target_id(target);
begin
  if not rowrelay.end_route(capture.id, target_id) then
    raise exception 'table % is not routed to target "%"', relation, target using errcode = 'undefined_object',
      hint = 'To see where each table goes: '
               || rowrelay.command('rowrelay status --tables', 'select relation, targets from rowrelay.captures;');
  end if;
  perform rowrelay.make_trigger_function(capture.id);
end
$$;
