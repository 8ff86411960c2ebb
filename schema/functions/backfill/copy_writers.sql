-- Purpose:    takes a lock that blocks writers to a capture's tables, once all transactions that were writing at the
--             last call have ended
-- Parameters: backfill, whose waits_for has the writers of the last call and is set to those of this one; its capture
-- Result:     may_lock: true: the lock is held until the transaction ends; note: the writers that it waits for
-- Errors:     as for rowrelay.lock_tables()
create or replace function rowrelay.copy_writers(backfill rowrelay.backfill, capture rowrelay.capture,
                                                 out may_lock boolean,
                                                 out note text)
language plpgsql as $$
declare
  writers text[] := rowrelay.backfill_writers(capture);
begin
  -- waits_for is null at the first call
  may_lock := writers = '{}' or coalesce(not backfill.waits_for && writers, false);
  if may_lock then
    perform rowrelay.lock_tables(rowrelay.captured_tables(capture), 'share row exclusive', '0 s');
    return;
  end if;
  update rowrelay.backfill k set waits_for = writers where k.id = backfill.id;
  select 'waits for transactions that write to the table: '
         || string_agg(case when l.pid is null then 'a prepared transaction'
                            else format('process %s (%s, %s, since %s)', l.pid, a.usename, a.state,
                                        to_char(a.xact_start, 'HH24:MI:SS')) end, ', ' order by l.pid)
    into note
    from (select distinct k.pid, k.virtualtransaction from pg_locks k where k.virtualtransaction = any (writers)) as l
    left join pg_stat_activity a on a.pid = l.pid
   where a.xact_start is null or a.xact_start < clock_timestamp() - interval '1 s';
end
$$;
