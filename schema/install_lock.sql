-- One installation or removal of schema rowrelay at a time: both take this lock first, in the transaction
-- that does it. Its number is 'rowrelay' in ASCII. Whoever may log in can hold it, so who waits is told for whom.
do $$
declare
  holder text;
begin
  for attempt in 1..20 loop
    if pg_catalog.pg_try_advisory_xact_lock(x'726f7772656c6179'::bigint) then
      return;
    end if;
    perform pg_catalog.pg_sleep(0.1);
  end loop;
  select pg_catalog.string_agg(pg_catalog.format('%s of user %s', l.pid, a.usename), ', ') into holder
    from pg_catalog.pg_locks l left join pg_catalog.pg_stat_activity a on a.pid = l.pid
   where l.locktype = 'advisory' and l.granted and l.objsubid = 1 and l.classid = x'726f7772'::integer::oid
     and l.objid = x'656c6179'::integer::oid
     and l.database = (select d.oid from pg_catalog.pg_database d where d.datname = pg_catalog.current_database());
  raise warning 'waiting for another session that installs or removes schema rowrelay: process %', holder
    using errcode = 'lock_not_available', hint = 'If it does neither, end it: select pg_terminate_backend(PID)';
  perform pg_catalog.pg_advisory_xact_lock(x'726f7772656c6179'::bigint);
end
$$;
-- Nobody changes captures and targets meanwhile. Version 1 has no such lock.
do $$
begin
  if pg_catalog.to_regprocedure('rowrelay.lock_configuration()') is not null then
    perform rowrelay.lock_configuration();
  end if;
end
$$;
