-- Purpose:    lists the transactions for which a backfill has to wait before it reads: those that were writing to the
--             table when it began may still use the trigger function from before the route, and their rows cannot be
--             read yet. It waits as CREATE INDEX CONCURRENTLY does, by polling, without a lock.
-- Parameters: backfill; its capture
-- Result:     waits_for: those that are still open, null: not listed yet; waits_since: when they were listed, or when
--             this was first called; note: the same for people
create or replace function rowrelay.backfill_waits(backfill rowrelay.backfill, capture rowrelay.capture,
                                                   out waits_for text[],
                                                   out waits_since timestamptz, out note text)
language plpgsql as $$
declare
  writers text[];
begin
  waits_for := backfill.waits_for;
  waits_since := coalesce(backfill.waits_since, clock_timestamp());
  -- Other processes may learn that functions have changed a moment after the transaction is seen as committed.
  if waits_since between clock_timestamp() - interval '50 ms' and clock_timestamp() then
    return;
  end if;
  writers := rowrelay.backfill_writers(capture);
  -- A time in the future was written while the clock was ahead, and tells nothing.
  if waits_for is null or waits_since > clock_timestamp() then
    waits_for := writers;
    waits_since := clock_timestamp();
  else
    -- Prepared transactions outlive a restart or crash of the server under new names: -1 and their number. All of them
    -- began before it, so wait for all.
    waits_for := array(select w from unnest(writers) as w where w = any (backfill_waits.waits_for) or w like '-1/%');
  end if;
  select 'waits for transactions that wrote to the table before this began: '
         || string_agg(case when l.pid is null then 'a prepared transaction'
                             else format('process %s (%s, %s, since %s)', l.pid, a.usename, a.state,
                                         to_char(a.xact_start, 'HH24:MI:SS')) end, ', ' order by l.pid)
    into note
    from (select distinct k.pid, k.virtualtransaction from pg_locks k
           where k.virtualtransaction = any (backfill_waits.waits_for)) as l
    left join pg_stat_activity a on a.pid = l.pid;
end
$$;
