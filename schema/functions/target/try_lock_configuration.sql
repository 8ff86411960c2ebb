-- Purpose:    the same as rowrelay.lock_configuration(), if nobody else holds that lock
-- Result:     whether this transaction holds it now
create or replace function rowrelay.try_lock_configuration() returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- Not with lock_timeout: that needs a subtransaction, and the row would be free again at its end.
  perform from rowrelay.mutex m where m.name = 'configuration' for update skip locked;
  if not found then
    return false;
  end if;
  -- A mark for those who wait, which nobody waits for: pg_locks shows who has it, also if the row was locked in a
  -- subtransaction.
  lock table rowrelay.mutex in row exclusive mode;
  if rowrelay.another_life() = 'restored or copied' then
    perform rowrelay.renumber();
  end if;
  return true;
end
$$;
