-- Purpose:    turns the lines in the temporary table rowrelay_restored into a partition of the log. rowrelay.prune()
--             keeps it unless it is called with restored => true.
-- Parameters: header, the first line of the file
-- Result:     number of changes
-- Errors:     there are more or fewer than the header says; lock_not_available: another session locks the log for
--             longer than a second
create or replace function rowrelay.restore_end(header text) returns bigint
language plpgsql set lock_timeout = '1s' as $$
declare
  day       constant date := header::json ->> 'day';
  partition constant text := 'change_' || to_char(day, 'YYYYMMDD');
  restored  bigint;
begin
  -- Does not block writers, but nobody drops the empty partition meanwhile.
  lock table only rowrelay.change in share update exclusive mode;
  if to_regclass('rowrelay.' || partition) is null then
    perform rowrelay.add_partition('change', partition, day, day + 1);
  end if;
  execute format('insert into rowrelay.%I select c.* from pg_temp.rowrelay_restored r '
                 'cross join lateral rowrelay.archived_change(r.line) as c', partition);
  get diagnostics restored = row_count;
  if restored <> (header::json ->> 'changes')::bigint then
    raise exception 'the archive of % has % changes instead of %', day, restored, header::json ->> 'changes'
      using errcode = 'data_corrupted';
  end if;
  insert into rowrelay.day as d (day, closed_at, ends_at, first_id, last_id, dropped_at, restored_at)
  values (day, (day + 2)::timestamp at time zone 'UTC', (day + 2)::timestamp at time zone 'UTC',
          (header::json ->> 'first_id')::bigint,
          (header::json ->> 'last_id')::bigint, clock_timestamp(), clock_timestamp())
  on conflict on constraint day_pkey do update
    set restored_at = clock_timestamp(), dropped_at = coalesce(d.dropped_at, clock_timestamp()), captures = null;
  perform rowrelay.index_day(day);
  return restored;
end
$$;
