-- Purpose:    queues rows of a captured table again for one target, as they are now: an existing row as a snapshot, a
--             missing one as a delete. `rowrelay verify --repair` calls it for rows that differ. Call it in a
--             transaction of its own: until it commits, the rows cannot be written and their lanes are not delivered.
-- Parameters: relation; target; keys as the log has them: the text of a single column, a JSON array of several;
--             patience: how long to wait, for missing rows, until other transactions that write to the table end
-- Result:     number of queued rows, without those that another session is writing now, whose changes will be queued
-- Errors:     the table is not captured, has no key, or is not routed there; no such target; row-level security hides
--             rows of it; a key is not valid for its type; lock_not_available: another session writes to the table for
--             longer than patience
create or replace function rowrelay.requeue(relation regclass, target text, keys text[],
                                            patience interval default '10 s')
returns bigint language plpgsql security definer set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, MDY' set timezone = 'UTC' set intervalstyle = 'postgres'
set array_nulls = on set bytea_output = 'hex'
set extra_float_digits = 1 set lc_monetary = 'C' set quote_all_identifiers = off set lock_timeout = '10s'
set row_security = off as $$
declare
  capture rowrelay.capture;
  goes_to rowrelay.target;
  key     text;
  queued  bigint;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'rows can only be queued again in a READ COMMITTED transaction'
      using errcode = 'object_not_in_prerequisite_state', detail = 'It has to see what others commit meanwhile.';
  end if;
  -- A crash must not lose ids that targets have seen.
  perform set_config('synchronous_commit', 'on', true);
  capture := rowrelay.captured(relation);
  -- Not locked: a batch in flight may have to update it before it releases a lane that we wait for.
  select t.* into goes_to from rowrelay.target t where t.name = requeue.target and t.dropped_at is null;
  if goes_to.id is null then
    perform rowrelay.target_id(target);
  end if;
  if not exists (select from rowrelay.route r where r.capture = capture.id and r.target = goes_to.id
                 and r.until_id is null) then
    raise exception 'table % is not routed to target "%"', relation, target using errcode = 'undefined_object',
      hint = 'To see where each table goes: '
               || rowrelay.command('rowrelay status --tables', 'select relation, targets from rowrelay.captures;');
  end if;
  if rowrelay.waiting_room(capture.id, goes_to.id) <> 0 then
    raise exception 'table % is being copied to target "%"', relation, target
      using errcode = 'object_not_in_prerequisite_state',
            hint = 'Wait until it is copied, or cancel that: '
                     || rowrelay.command('rowrelay backfill %s --to %s --cancel',
                                         'select rowrelay.cancel_backfill(%L, %L);', relation::text, target);
  end if;
  if cardinality(rowrelay.live_key(capture)) = 0 then
    raise exception 'table % has no key', relation using errcode = 'object_not_in_prerequisite_state',
      detail = 'Its rows cannot be identified, so none of them can be queued again.';
  end if;
  if capture.lane_state is distinct from rowrelay.lane_state(capture) then
    raise exception 'the key of table % was altered', relation using errcode = 'object_not_in_prerequisite_state',
      hint = 'Capture it again: '
               || rowrelay.command('rowrelay capture %s', 'select rowrelay.capture_table(%L);', relation::text);
  end if;

  -- A hidden row must not be deleted at the target.
  perform rowrelay.check_sees_all(m) from unnest(rowrelay.captured_tables(capture)) as m;

  keys := array(select distinct k from unnest(keys) as k where k is not null);
  -- Existing rows come last, so that they are locked only for a moment.
  queued := rowrelay.requeue_absent(capture, goes_to, keys, patience);
  begin
    queued := queued + rowrelay.requeue_present(capture, goes_to, keys);
  exception when lock_not_available or data_exception or program_limit_exceeded or internal_error then
    foreach key in array keys loop
      begin
        queued := queued + rowrelay.requeue_present(capture, goes_to, array[key]);
      exception
        when lock_not_available then
          null;
        when data_exception or program_limit_exceeded or internal_error then
          queued := queued + rowrelay.requeue_present(capture, goes_to, array[key], sqlerrm);
      end;
    end loop;
  end;
  if pg_sequence_last_value('rowrelay.doorbell'::regclass) > 0 then
    perform rowrelay.ring_doorbell();
  end if;
  return queued;
end
$$;
