-- Purpose:    locks tables without blocking others for long: a request for a strong lock blocks all later requests
--             while it waits for one old transaction. So this waits for a tenth of a second, withdraws, lets others
--             pass, and tries again.
-- Parameters: tables; lock mode, as in LOCK TABLE; how long to keep trying
-- Errors:     lock_not_available, with the processes that hold the lock
create or replace function rowrelay.lock_tables(relations regclass[], mode text, patience interval) returns void
language plpgsql as $$
declare
  give_up_at constant timestamptz := clock_timestamp() + patience;
  before     constant text := current_setting('lock_timeout');
  relation   regclass;
  waited_for regclass;
  ask_until  timestamptz;
  holders    text;
  endings    text; -- statements that end prepared transactions
begin
  loop
    begin
      ask_until := clock_timestamp() + interval '100 ms';
      foreach relation in array relations loop
        waited_for := relation;
        -- one time limit for all tables together
        perform set_config('lock_timeout',
                           greatest(1, extract(epoch from ask_until - clock_timestamp()) * 1000)::integer::text, true);
        execute rowrelay.lock_statement(relation, mode);
      end loop;
      perform set_config('lock_timeout', before, true);
      return;
    exception when lock_not_available or deadlock_detected then
      -- the block was a subtransaction, so its locks are released
      perform set_config('lock_timeout', before, true);
    end;
    if clock_timestamp() > give_up_at then
      with holder as (
        select l.pid, l.virtualtransaction from pg_locks l
         where l.locktype = 'relation' and l.relation = waited_for and l.granted and l.pid is distinct
           from pg_backend_pid()
           and l.database = (select d.oid from pg_database d where d.datname = current_database())
      ), named as (
        select a.backend_start as since, null as gid,
          format('process %s (%s, %s)', a.pid, a.usename, left(a.query, 60)) as words
          from pg_stat_activity a where a.pid in (select h.pid from holder h)
        union all
        select p.prepared, p.gid, format('prepared transaction %L (%s, prepared %s ago)', p.gid, p.owner,
                                         date_trunc('second', clock_timestamp() - p.prepared))
          from pg_prepared_xacts p
         where exists (select from holder h join pg_locks l on l.virtualtransaction = h.virtualtransaction
                        where h.pid is null and l.pid is null and l.transactionid = p.transaction)
      )
      select string_agg(n.words, ', ' order by n.since),
             string_agg(format('commit prepared %1$L or rollback prepared %1$L', n.gid), '; ' order by n.since)
               filter (where n.gid is not null)
        into holders, endings from named n;
      raise exception 'table % is in use: no lock within %', waited_for, patience
        using errcode = 'lock_not_available',
              detail = coalesce('It is held by ' || holders || '.', 'It is held by a series of short transactions.'),
              hint = 'Nothing was changed. '
                     || coalesce('A prepared transaction holds its locks until you end it: ' || endings || '.',
                                 format('Try again when that transaction has ended, or wait longer (%s).',
                                        rowrelay.command('--lock-wait', 'lock_wait')));
    end if;
    perform pg_sleep(0.05 + random() * 0.2);
  end loop;
end
$$;
