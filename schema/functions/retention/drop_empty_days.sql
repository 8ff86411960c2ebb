-- Purpose:    takes the empty partitions of dropped days out of rowrelay.change, and months without any day left out of
--             rowrelay.change_key. That needs a lock for which writers have to wait, so it is not even asked for while
--             anybody is seen to hold another one for long (a dump, a slow delivery), and then for a tenth of a second,
--             after which there is always another time. To be called by itself, not in a longer transaction.
-- Parameters: how many to take away at most, as each takes a millisecond or two; looks: how often to look whether the
--             transactions that use the log now have ended, twenty times a second
-- Result:     how many there were; -1: not now
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
