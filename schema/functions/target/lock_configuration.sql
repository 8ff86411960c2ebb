-- Purpose:    lets one transaction at a time change what is captured and where it goes. It is locked before everything
--             else: lanes, captures, targets, tables, trigger functions. So two such transactions never wait for each
--             other, whatever they change, in whatever order. Writers, and delivery, never take this lock; what
--             processes do by themselves takes it only if it is free.
-- Errors:     lock_not_available, if the caller has set lock_timeout
create or replace function rowrelay.lock_configuration() returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  holder integer;
begin
  for attempt in 1 .. 20 loop
    -- Not with lock_timeout: that needs a subtransaction, whose number would not tell who holds the lock.
    perform from rowrelay.mutex m where m.name = 'configuration' for update skip locked;
    if found then
      return;
    end if;
    perform pg_sleep(0.05);
  end loop;
  select l.pid into holder from rowrelay.mutex m join pg_locks l on l.transactionid = m.xmax
   where m.name = 'configuration' and l.granted;
  raise warning 'waiting for another transaction that changes captures or targets%',
    coalesce(': process ' || holder, '');
  perform from rowrelay.mutex m where m.name = 'configuration' for update;
end
$$;
