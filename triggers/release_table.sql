-- Purpose:    ends the capture of a table and drops its triggers. Captured changes stay in the log, and queued ones are
--             still delivered. Takes ACCESS EXCLUSIVE on the table for a moment, as DROP TRIGGER must, and blocks
--             others for at most a tenth of a second at a time.
-- Parameters: relation; lock_wait: how long to try for the lock
-- Errors:     the table is not captured; no lock within lock_wait
create or replace function rowrelay.release_table(relation regclass, lock_wait interval default '1 min') returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  capture rowrelay.capture := rowrelay.captured(relation);
  tables  regclass[] := rowrelay.captured_tables(capture); -- asked once: a table may have thousands of partitions
begin
  perform rowrelay.lock_tables(
    tables || array(select distinct o.relation from rowrelay.own_triggers(capture) o
                     where o.relation <> all (tables)), -- detached partitions
    'access exclusive', lock_wait);
  perform rowrelay.detach_triggers(capture);
  execute (select coalesce(string_agg(format('drop function %s', m.made), '; '), '')
             from rowrelay.made_functions(capture.id) as m);
  perform rowrelay.end_route(capture.id, null);
  update rowrelay.capture c set released_at = now() where c.id = capture.id;
end
$$;
