-- Purpose:    drops the changes of a closed day. It truncates the day's partition, under a lock on that partition
--             alone, which writers and deliveries do not use, and waits for it a tenth of a second, so that readers of
--             old history, such as a dump, are not disturbed. rowrelay.drop_empty_days() drops the empty partition.
-- Parameters: the day; force: discard undelivered changes
-- Result:     'dropped', 'kept' (something is not delivered) or 'busy' (another session reads it); and why
create or replace function rowrelay.prune_day(pruned date, force boolean, out outcome text, out note text)
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '100ms' as $$
declare
  day       rowrelay.day;
  partition constant regclass := to_regclass('rowrelay.change_' || to_char(pruned, 'YYYYMMDD'));
begin
  select d.* into strict day from rowrelay.day d where d.day = pruned;
  note := (select string_agg(u, '; ') from rowrelay.undelivered(day.day, day.first_id, day.last_id) as u);
  if note is not null and not force then
    outcome := 'kept';
    return;
  end if;
  begin
    execute format('lock table only %s in access exclusive mode', partition);
    if note is not null then
      perform rowrelay.give_up_day(day);
    elsif exists (select from rowrelay.undelivered(day.day, day.first_id, day.last_id, true)) then
      raise exception using errcode = 'lock_not_available';
    end if;
    perform rowrelay.raise_log_since(day, day.captures);
    update rowrelay.day d set dropped_at = clock_timestamp(), dropped_in = pg_current_xact_id(),
                              restored_at = null, note = null
     where d.day = pruned;
    -- see rowrelay.sees_log(); nothing below waits for a lock
    perform from rowrelay.source for update;
    update rowrelay.source s set prunings = nextval('rowrelay.prunings') where true;
    execute format('truncate only %s', partition);
    outcome := 'dropped';
    note := concat_ws('; ', coalesce('ids ' || day.first_id || ' to ' || day.last_id, 'it was empty'),
                      'discarded: ' || note);
  exception when lock_not_available then
    outcome := 'busy';
    note := 'another session reads or delivers its changes';
  end;
end
$$;
