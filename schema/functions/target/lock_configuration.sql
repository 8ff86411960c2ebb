-- Purpose:    lets one transaction at a time change what is captured and where it goes. It is locked before everything
--             else: lanes, captures, targets, tables, trigger functions. So two such transactions never wait for each
--             other, whatever they change, in whatever order. Writers, and delivery, never take this lock; what
--             processes do by themselves takes it only if it is free.
-- Errors:     lock_not_available, if the caller has set lock_timeout
create or replace function rowrelay.lock_configuration() returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  holder text;
begin
  for attempt in 1 .. 20 loop
    if rowrelay.try_lock_configuration() then
      return;
    end if;
    perform pg_sleep(0.05);
  end loop;
  select coalesce('process ' || l.pid, format('prepared transaction %L', p.gid)) into holder
    from pg_locks l
    left join pg_locks x on l.pid is null and x.pid is null and x.virtualtransaction = l.virtualtransaction
                        and x.locktype = 'transactionid'
    left join pg_prepared_xacts p on p.transaction = x.transactionid
   where l.locktype = 'relation' and l.relation = 'rowrelay.mutex'::regclass and l.mode = 'RowExclusiveLock'
     and l.database = (select d.oid from pg_database d where d.datname = current_database())
   order by p.gid limit 1;
  raise warning 'waiting for another transaction that changes captures or targets%', coalesce(': ' || holder, '')
    using errcode = 'lock_not_available'; -- programs tell it at once
  begin
    perform from rowrelay.mutex m where m.name = 'configuration' for update;
  exception when lock_not_available then
    raise exception 'another transaction that changes captures or targets did not end within %',
                    current_setting('lock_timeout')
      using errcode = 'lock_not_available', detail = coalesce('It is ' || holder || '.', ''),
            hint = 'Nothing was changed. Try again later.';
  end;
  perform rowrelay.try_lock_configuration();
end
$$;
