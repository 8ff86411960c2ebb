-- Purpose:    makes sure that change ids are not assigned twice. A server that crashed, was restored, or is a promoted
--             standby may have lost the last ids that it assigned. Targets know them, and would take new changes with
--             these ids for old ones. So the sequence continues at the number of microseconds since the beginning of
--             2026: no source has made that many changes, so this is past every id assigned before, and two servers
--             that continue from the same data assign different ids. The sequence of claim tokens continues likewise.
--             Every process calls this when it connects, before it claims anything. Every start of a server counts,
--             because restored files cannot be told from those of the stopped server. See rowrelay.this_server(). If
--             the clock is behind the sequence (a wrong clock, or two starts in a row), the sequence continues after a
--             random gap, because another server may continue from the same data. A restore sets sequences at its
--             end, perhaps after a process has called this in the middle of it: then ids are set back, and it is done
--             once more.
-- Result:     goes_on_after: the change id after which it continues; null: the same server and the same start as
--             before. is_alarm: this was certainly more than a restart of the same server
-- Errors:     read_only_sql_transaction: the server is a standby
create or replace function rowrelay.skip_lost_ids(out goes_on_after bigint, out is_alarm boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  step   constant bigint := 1000000000; -- a day of 10,000 changes a second
  near   constant bigint := 1000000;    -- ids that may be lost where clocks differ by little
  clock  bigint;
  gap    bigint;
  this   record;
  last   text[];
  lowest bigint;
  before bigint;
  was_restored boolean;
begin
  -- It may be promoted the next moment, and whoever did nothing here must not claim there then.
  if pg_is_in_recovery() then
    raise exception 'the server is a standby' using errcode = 'read_only_sql_transaction';
  end if;
  select * into this from rowrelay.this_server();
  select s.server, s.ids_from into last, lowest from rowrelay.source s;
  if last = this.server and rowrelay.last_change_id() >= lowest then
    return;
  end if;
  -- Others use the sequence before this transaction commits, so its commit must not be lost in a crash.
  perform set_config('synchronous_commit', 'local', true);
  -- Processes that connect at the same time wait here until the sequence has been set.
  select s.server, s.ids_from into last, lowest from rowrelay.source s for update;
  if last = this.server and rowrelay.last_change_id() >= lowest then
    return;
  end if;
  is_alarm := rowrelay.last_change_id() < lowest or last[1] is distinct from this.server[1]
              or last[3] is distinct from this.server[3] and this.is_empty;

  was_restored := rowrelay.is_restored() or rowrelay.last_change_id() < lowest;
  if was_restored then
    -- Its snapshot means nothing here, where transactions have other numbers.
    perform rowrelay.copy_abandon(b.id, 'the database was restored from a dump')
       from rowrelay.backfill b where b.way = 'copy' and b.state in ('copying', 'joining');
    perform rowrelay.park_perhaps_sent('was restored from a dump');
    delete from rowrelay.floor; -- a process that was there before may have said what it knew
  elsif rowrelay.may_have_forgotten(last[1], this.server[1]) then
    perform rowrelay.park_perhaps_sent('failed over, or was recovered to a point in time');
  end if;
  perform rowrelay.renumber();
  perform rowrelay.note_start();

  clock := extract(epoch from clock_timestamp() - timestamptz '2026-01-01 00:00:00+00') * 1000000;
  gap := step + (random() * step)::bigint;
  perform setval('rowrelay.claim_token', case when t.last_value + near < clock then clock else t.last_value + gap end)
    from rowrelay.claim_token t;
  -- In one statement: ids that writers take in between would be counted as skipped.
  select case when i.is_called then i.last_value else 0 end,
         setval('rowrelay.change_id', case when i.last_value + near < clock then clock else i.last_value + gap end)
    into before, goes_on_after
    from rowrelay.change_id i;
  update rowrelay.source s
     set restored_id = case when was_restored then before else s.restored_id end,
         server = this.server, ids_from = goes_on_after, ids_skipped = s.ids_skipped + goes_on_after - before,
         log_mark = rowrelay.log_mark();
  if was_restored then
    perform rowrelay.note_origin();
  end if;
  -- Maintenance is due: writers may need what this server lacks, see rowrelay.native_obstacle().
  update rowrelay.job j set held_until = clock_timestamp() - interval '1 s'
   where j.name = any (array(select k.name from rowrelay.job k where k.name = 'maintain' for update skip locked));
end
$$;
