-- Purpose:    for which transactions a backfill has to wait before it reads anything: those that wrote to the table when it
--             began may still use the trigger function as it was before the route, and their rows are not there to be
--             read yet. They are waited for as CREATE INDEX CONCURRENTLY waits, by looking, without a lock.
-- Parameters: backfill; its capture
-- Result:     waits_for: who of them is still there, null when nobody was listed yet; waits_since: when they were listed,
--             or when this was first asked; note: the same for people
create or replace function rowrelay.backfill_waits(backfill rowrelay.backfill, capture rowrelay.capture, out waits_for text[],
                                                   out waits_since timestamptz, out note text)
language plpgsql as $$
declare
  writers text[];
begin
  waits_for := backfill.waits_for;
  waits_since := coalesce(backfill.waits_since, clock_timestamp());
  -- A transaction can be seen to have committed a moment before other processes are told that functions have changed.
  if waits_since between clock_timestamp() - interval '50 ms' and clock_timestamp() then
    return;
  end if;
  writers := rowrelay.backfill_writers(capture);
  -- A time that is to come was noted while the clock was ahead, and does not tell.
  if waits_for is null or waits_since > clock_timestamp() then
    waits_for := writers;
    waits_since := clock_timestamp();
  else
    -- A restart of the server, also one after a crash, gives new names to those who outlive it, to prepared transactions:
    -- -1 and their number. They began before it, so all of them are waited for.
    waits_for := array(select w from unnest(writers) as w where w = any (backfill_waits.waits_for) or w like '-1/%');
  end if;
  select 'waits for transactions that wrote to the table before this began: '
         || string_agg(case when l.pid is null then 'a prepared one'
                             else format('process %s (%s, %s, since %s)', l.pid, a.usename, a.state,
                                         to_char(a.xact_start, 'HH24:MI:SS')) end, ', ' order by l.pid)
    into note
    from (select distinct k.pid, k.virtualtransaction from pg_locks k
           where k.virtualtransaction = any (backfill_waits.waits_for)) as l
    left join pg_stat_activity a on a.pid = l.pid;
end
$$;
