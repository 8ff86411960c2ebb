-- Purpose:    drops the empty partitions of dropped days from rowrelay.change, and those of months without a day left
--             from rowrelay.change_key. That needs a lock that blocks writers, so it is not requested while another
--             transaction holds a lock on the log for long (a dump, a slow delivery), and then only for a tenth of a
--             second. Call it in a transaction of its own.
-- Parameters: how many to drop at most, at a millisecond or two each; looks: how often to check, twenty times a second,
--             whether the transactions that use the log now have ended
-- Result:     number of dropped partitions; -1: not now
create or replace function rowrelay.drop_empty_days(most integer default 10, looks integer default 20) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '100ms' as $$
declare
  empty_day regclass;
  holders   text[];
  dropped   integer := 0;
begin
  if not exists (select from rowrelay.empty_days()) then
    return rowrelay.drop_empty_months();
  end if;
  holders := rowrelay.log_users();
  while holders && rowrelay.log_users() loop
    if looks = 0 then
      return -1;
    end if;
    looks := looks - 1;
    perform pg_sleep(0.05);
  end loop;
  begin
    lock table only rowrelay.change in access exclusive mode;
    for empty_day in select e from rowrelay.empty_days() as e limit most loop
      execute format('lock table only %s in access exclusive mode nowait', empty_day);
      execute format('drop table %s', empty_day);
      dropped := dropped + 1;
    end loop;
  exception when lock_not_available then
    return -1;
  end;
  return dropped;
end
$$;
