-- Purpose:    takes a tick (PgQ's word): a moment for which it is known which changes were committed by then. Puts the
--             changes committed since the previous tick into rowrelay.change_key, so that the changes of a row can be
--             found by key although writers maintain no index. Running processes call it every second, or every ten
--             seconds while they deliver a backlog; without them a search only takes longer.
--
--             It reads in this order, each statement with a snapshot of its own: the last id (low); the transactions
--             that hold the writers' lock; the snapshot; the last id (high). A change that is not visible in the
--             snapshot has an id above low, or its transaction took the lock before low was read and still held it when
--             the snapshot was taken: then it is listed. So transactions that write no changes cost nothing, however
--             long they last. A transaction with the lock but without an id cannot be listed, so low then stays at its
--             previous value. A change that is visible in the snapshot has an id up to high, because its transaction
--             had ended by then.
-- Parameters: max_rows: how many changes to read at most; at_once: do not wait until a tick is worthwhile
-- Result:     number of changes read; fewer than max_rows: this tick is done, and all older changes are indexed
-- Errors:     the transaction has written something, or is not READ COMMITTED
create or replace function rowrelay.tick(max_rows integer default 10000, at_once boolean default false) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  last     rowrelay.tick;
  previous rowrelay.tick;
  tick     rowrelay.tick;
  nameless boolean;
  piece    record;
begin
  if current_setting('transaction_isolation') <> 'read committed' or pg_current_xact_id_if_assigned() is not null then
    raise exception 'a tick needs a READ COMMITTED transaction that has not written anything'
      using errcode = 'active_sql_transaction', hint = 'Commit first, and call it by itself.';
  end if;
  -- One at a time, so that ticks are in order and each one sees the previous one. Nobody else has the right to lock the
  -- table so, and unlike a row's lock it writes nothing.
  begin
    lock table rowrelay.tick in share update exclusive mode nowait;
  exception when lock_not_available then
    return 0;
  end;
  select t.* into last from rowrelay.tick t order by t.id desc limit 1;

  if last.indexed_to is not null then
    tick := last;
    select t.* into previous from rowrelay.tick t where t.id < last.id order by t.id desc limit 1;
  elsif rowrelay.tick_is_due(last, at_once) then
    previous := last;
    tick.taken_at := clock_timestamp();
    select min(p.day) into tick.open_from
      from rowrelay.partition_days() p
     where not exists (select from rowrelay.day d where d.day = p.day and d.closed_at is not null);
    for attempt in 1..20 loop
      tick.low := rowrelay.last_change_id();
      select w.xids, w.nameless into tick.writers, nameless from rowrelay.writing_xids() as w;
      exit when not nameless;
      perform pg_sleep(0.001); -- most get their id at once
    end loop;
    tick.snapshot := pg_current_snapshot();
    tick.high := rowrelay.last_change_id();
    tick.era := coalesce(last.era + (pg_snapshot_xmax(last.snapshot) > pg_snapshot_xmax(tick.snapshot))::integer, 0);
    if nameless then
      tick.low := coalesce(last.low, 0);
    end if;
    select coalesce(array_agg(w order by w), '{}'),
           coalesce(array_agg(coalesce(last.writers_from[array_position(last.writers, w)], last.low, 0)
                              order by w), '{}')
      into tick.writers, tick.writers_from
      from unnest(tick.writers) as w
     where not pg_visible_in_snapshot(w, tick.snapshot);
    tick.indexed_to := least(coalesce(last.low, 0),
                             (select min(w.from_id) from unnest(last.writers, last.writers_from) as w(xid, from_id)
                                         where w.xid <> all (tick.writers)));
    perform rowrelay.key_partitions();
  else
    return rowrelay.index_older_rows(max_rows);
  end if;

  -- comparing how hashes are computed takes milliseconds, so it is done once a minute
  perform rowrelay.note_row_hashing(greatest(coalesce(previous.high, 0), tick.indexed_to),
                                    date_trunc('minute', last.taken_at) = date_trunc('minute', clock_timestamp()));
  select * into piece from rowrelay.index_changes(tick, previous, tick.indexed_to, max_rows);
  tick.indexed_to := case when piece.looked_at >= max_rows then piece.last_id end;
  tick.first_day := least(tick.first_day, piece.first_day);
  tick.last_day := greatest(tick.last_day, piece.last_day);
  tick.block_ids := coalesce(tick.block_ids, '{}') || coalesce(piece.block_ids, '{}');
  tick.block_txids := coalesce(tick.block_txids, '{}') || coalesce(piece.block_txids, '{}');
  if tick.id is null then
    insert into rowrelay.tick (taken_at, era, timeline, started, snapshot, low, high, writers, writers_from,
                               open_from, indexed_to, first_day, last_day, block_ids, block_txids)
    values (tick.taken_at, tick.era, rowrelay.timeline(), rowrelay.server_started(), tick.snapshot, tick.low,
            tick.high, tick.writers, tick.writers_from, tick.open_from, tick.indexed_to, tick.first_day,
            tick.last_day, tick.block_ids, tick.block_txids);
  else
    update rowrelay.tick t set indexed_to = tick.indexed_to, first_day = tick.first_day, last_day = tick.last_day,
                               block_ids = tick.block_ids, block_txids = tick.block_txids
     where t.id = tick.id;
  end if;
  return piece.looked_at + rowrelay.index_older_rows(max_rows - piece.looked_at);
end
$$;
