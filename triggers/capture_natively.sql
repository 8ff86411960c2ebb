-- Purpose:    switches all captured tables to the server module rowrelay_native, or back to PL/pgSQL, as has to be done
--             before the module is removed from the server. Writers go on meanwhile, and what is captured is the same.
-- Parameters: whether to use the module where it can be used
-- Result:     a row for each table: what captures it now
create or replace function rowrelay.capture_natively(wanted boolean default true)
returns table (relation regclass, captured_by text)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  capture rowrelay.capture;
begin
  perform rowrelay.lock_configuration();
  update rowrelay.source s set native = wanted where s.native <> wanted;
  for capture in select c.* from rowrelay.capture c where c.released_at is null order by c.id loop
    perform rowrelay.make_trigger_function(capture.id);
    relation := capture.relation;
    captured_by := case when rowrelay.is_native(capture.id) then 'rowrelay_native' else 'PL/pgSQL' end;
    return next;
  end loop;
end
$$;
