-- Purpose:    makes sure that change ids are not assigned twice. A server that crashed, was restored, or is a promoted
--             standby may have lost the last ids that it assigned. Targets know them, and would take new changes with
--             these ids for old ones. So in each run of a server (rowrelay.server_run) the sequence continues, before
--             the first id is taken, past every id assigned before (rowrelay.past_lost_ids). Every start counts,
--             because restored files cannot be told from those of a stopped server.
--
--             Applications may write before any process connects, so each session sees to this before it takes its
--             first id: see rowrelay.next_change_id(). None may wait for another one's transaction. So what is known is
--             kept in sequences, which everybody sees at once and no rollback undoes, and the lock is given back at
--             once by rolling back to a savepoint.
-- Result:     true: ids are not assigned twice from now on, which setting rowrelay.ids_continue says to this session;
--             false: this could not be done. No writer fails for that: its next change tries again
create or replace function rowrelay.continue_ids() returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
set lock_timeout = 0 as $$ -- nobody holds the lock for longer than this takes
declare
  run  constant bigint := rowrelay.server_run();
  last  bigint;
  goes_on_after bigint;
begin
  if run is distinct from pg_sequence_last_value('rowrelay.server_run') then
    begin
      perform from rowrelay.mutex m where m.name = 'change_id' for update;
      if run is distinct from pg_sequence_last_value('rowrelay.server_run') then
        last := rowrelay.last_change_id();
        goes_on_after := rowrelay.past_lost_ids(last);
        perform setval('rowrelay.change_id', goes_on_after), setval('rowrelay.ids_from', goes_on_after),
                setval('rowrelay.ids_skipped', s.last_value + goes_on_after - last), setval('rowrelay.server_run', run)
           from rowrelay.ids_skipped s;
      end if;
      raise exception using errcode = 'RR001'; -- gives the lock back
    exception
      when sqlstate 'RR001' then
      when others then
        return false;
    end;
  end if;
  perform set_config('rowrelay.ids_continue', 'rowrelay.change_id'::regclass::oid::text, false);
  return true;
end
$$;
