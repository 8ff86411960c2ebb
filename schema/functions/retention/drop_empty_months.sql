-- Purpose:    drops partitions of months without a day left from rowrelay.change_key. Only searches by key wait
--             meanwhile.
-- Result:     number of dropped partitions; -1: not now
create or replace function rowrelay.drop_empty_months() returns integer
language plpgsql set lock_timeout = '100ms' as $$
declare
  empty_month regclass;
  dropped     integer := 0;
begin
  if not exists (select from rowrelay.empty_months()) then
    return 0;
  end if;
  -- List them again under the lock: another session may have dropped some.
  lock table only rowrelay.change_key in access exclusive mode;
  for empty_month in select e from rowrelay.empty_months() as e loop
    execute format('lock table only %s in access exclusive mode nowait', empty_month);
    execute format('drop table %s', empty_month);
    dropped := dropped + 1;
  end loop;
  return dropped;
exception when lock_not_available then
  return -1;
end
$$;
