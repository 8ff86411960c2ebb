-- Purpose:    a server that crashed, was restored from a backup, or is a standby that took over may have forgotten the last
--             change ids that it had given out, while targets know them, and would take what comes under them next for what
--             they have. So none of those is given out again: the sequence moves on by more than can have been forgotten. So
--             does that of the claims' tokens, or targets would take new claims for old ones.
--             Every process calls it when it connects, before it claims anything.
--             A server is told by its system identifier; one that took over, or was brought to another point in time, by its
--             timeline; one that has crashed by when its statistics began, since a crash empties them.
-- Result:     the id after which it goes on; null when nothing was forgotten
create or replace function rowrelay.skip_lost_ids() returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  step        constant bigint := 1000000000; -- a day of 10,000 changes a second; a gap costs nothing
  this_server text;
  last_server text;
begin
  if pg_is_in_recovery() then
    return null;
  end if;
  begin
    select c.system_identifier::text into this_server from pg_control_system() as c;
  exception when insufficient_privilege or feature_not_supported then -- a managed server may keep it to itself
  end;
  this_server := concat_ws(' ', this_server, left(pg_walfile_name(pg_current_wal_insert_lsn()), 8),
                           extract(epoch from pg_stat_get_bgwriter_stat_reset_time()));

  select s.server into last_server from rowrelay.source s;
  if last_server = this_server then
    return null;
  end if;
  -- Who comes at the same time waits here until the sequence has moved on.
  update rowrelay.source s
     set server = this_server, ids_skipped = s.ids_skipped + case when last_server is null then 0 else step end
   where s.server is distinct from this_server;
  if not found or last_server is null then
    return null;
  end if;
  perform setval('rowrelay.claim_token', t.last_value + step) from rowrelay.claim_token t;
  return (select setval('rowrelay.change_id', i.last_value + step) from rowrelay.change_id i);
end
$$;
