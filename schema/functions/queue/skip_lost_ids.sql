-- Purpose:    sees to it that what this server may have lost does no harm: it crashed, was restored, or is a promoted
--             standby, and targets know changes, claims and deliveries that it does not. Every process calls this when
--             it connects, before it claims anything. Where the database was restored, copied, upgraded or recovered to
--             a point in time (rowrelay.another_life()), the former one may still deliver to the same targets: it
--             fails there, so that nothing is delivered, until somebody calls it with is_here. Change ids and claim
--             tokens continue after all that may have been assigned before: see rowrelay.continue_ids(), which writers
--             may have called already. A restore sets sequences at its end, perhaps after a process has called this in
--             the middle of it: then all is done once more.
-- Parameters: is_here: this database is the source now, wherever it comes from
-- Result:     goes_on_after: the change id after which it continues; null: the same server and the same start as
--             before. is_alarm: this was certainly more than a restart of the same server
-- Errors:     read_only_sql_transaction: the server is a standby; RR002: this may be a copy of the source
create or replace function rowrelay.skip_lost_ids(is_here boolean default false, out goes_on_after bigint,
                                                  out is_alarm boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  this   text[];
  last   text[];
  run    bigint;
  noted  bigint;
  happened text;
  was_restored boolean;
  lost   text;
begin
  -- It may be promoted the next moment, and whoever did nothing here must not claim there then.
  if pg_is_in_recovery() then
    raise exception 'the server is a standby' using errcode = 'read_only_sql_transaction';
  end if;
  this := rowrelay.this_server();
  run := rowrelay.server_run();
  select s.server, r.last_value into last, noted from rowrelay.source s, rowrelay.server_run r;
  if last = this and noted = run then
    return;
  end if;
  happened := rowrelay.another_life();
  if happened is not null and not is_here then
    raise exception 'nothing is delivered from database %: it was % since it delivered', current_database(), happened
      using errcode = 'RR002',
            hint = format('If it is the source now, run: %s. If it is a copy, run: %s.',
                          rowrelay.command('rowrelay resume --here', 'select rowrelay.skip_lost_ids(is_here => true)'),
                          rowrelay.command('rowrelay uninstall', 'schema/uninstall.sql'));
  end if;
  -- Others use the sequences before this transaction commits, so its commit must not be lost in a crash.
  perform set_config('synchronous_commit', 'local', true);
  -- Processes that connect at the same time wait here until the sequences have been set.
  select s.server into last from rowrelay.source s for update;
  noted := (select r.last_value from rowrelay.server_run r);
  if last = this and noted = run then
    return;
  end if;
  is_alarm := last = this or happened is not null or last[4] is distinct from this[4]
              or last[6] is distinct from this[6] and this[6] <> '';

  if not rowrelay.continue_ids() then
    raise exception 'change ids could not be continued after those that may be lost'
      using errcode = 'lock_not_available';
  end if;
  goes_on_after := (select f.last_value from rowrelay.ids_from f);
  was_restored := coalesce(happened = 'restored or copied', false) or last = this;
  if was_restored then
    -- Its snapshot means nothing here, where transactions have other numbers.
    perform rowrelay.copy_abandon(b.id, 'the database was restored from a dump')
       from rowrelay.backfill b where b.way = 'copy' and b.state in ('copying', 'joining');
    perform rowrelay.park_perhaps_sent('was restored from a dump');
    lost := 'was restored from a dump';
    delete from rowrelay.floor where true; -- a process that was there before may have said what it knew
  elsif rowrelay.may_have_forgotten(last, this) then
    perform rowrelay.park_perhaps_sent('failed over, or was recovered to a point in time');
    lost := 'failed over, or was recovered';
  end if;
  -- Nobody can know what it was, so it is noted of all targets but this database itself, which has lost it as well.
  perform rowrelay.note_loss(t.id, format('the source %s, and may have lost changes that the target has', lost))
     from rowrelay.target t
    where lost is not null and t.may_differ is null and t.dropped_at is null and t.url !~ '^postgres(ql)?:$'
      and not exists (select from rowrelay.document d where d.target = t.id);
  perform rowrelay.renumber();
  perform rowrelay.note_start();

  perform setval('rowrelay.claim_token', rowrelay.past_lost_ids(t.last_value)) from rowrelay.claim_token t;
  update rowrelay.source s
     set restored_id = case when was_restored then goes_on_after else s.restored_id end, server = this,
         log_mark = rowrelay.log_mark()
   where true;
  -- Maintenance is due: writers may need what this server lacks, see rowrelay.native_obstacle().
  update rowrelay.job j set held_until = clock_timestamp() - interval '1 s'
   where j.name = any (array(select k.name from rowrelay.job k where k.name = 'maintain' for update skip locked));
end
$$;
