-- Purpose:    runs the next step of a backfill. Call it repeatedly, each time in a transaction of its own: it waits for
--             the transactions that may still use the old trigger function, then queues the rows piece by piece. The
--             same transaction stores the progress, so nothing is left out or repeated however a step ends. It waits
--             for no lock, except for the lock of the row in a piece of one row, for a tenth of a second.
-- Parameters: number of the backfill; how many rows to read at most
-- Result:     outcome: progress; waits (note says for what: call it again later); done; cancelled; gone passed: rows
--             read by this step; held: for how many milliseconds others may have waited for it; queued, read,
--             estimated: rows so far and in all; rate: rows per second at most, null: unlimited; note
-- Errors:     lock_not_available: another session is writing one of the rows, so try again with fewer of them;
--             insufficient_privilege: row-level security hides rows of the table;
--             any error that a row causes; in a piece of one row the change records it, and targets refuse the change
create or replace function rowrelay.backfill_step(backfill_id integer, most_rows integer, out outcome text,
                                                  out passed integer,
                                                  out held integer, out queued bigint, out read bigint,
                                                    out estimated bigint,
                                                  out rate integer, out note text)
language plpgsql security definer set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, MDY' set timezone = 'UTC' set intervalstyle = 'postgres'
set array_nulls = on set bytea_output = 'hex'
set extra_float_digits = 1 set lc_monetary = 'C' set quote_all_identifiers = off set lock_timeout = '100ms'
-- hidden rows are an error, not missing rows
set row_security = off
-- rows are read in the order of an index, whatever statistics there are
set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  most_queued constant bigint := 100000; -- of the target, before this waits for it
  look_each   constant integer := 10000; -- rows between checks of that
  b           rowrelay.backfill;
  capture     rowrelay.capture;
  target      rowrelay.target;
  piece       record;
begin
  -- A crash must not lose ids that targets have seen, whatever the session's setting is.
  perform set_config('synchronous_commit', 'on', true);
  select k.* into b from rowrelay.backfill k where k.id = backfill_id for update skip locked;
  if b.id is null then
    outcome := case when exists (select from rowrelay.backfill k where k.id = backfill_id) then 'waits' else 'gone' end;
    note := case outcome when 'waits' then 'another process works on it' end;
    passed := 0;
    held := 0;
    return;
  end if;
  -- This lock keeps the columns' names and the rows' lanes as they are: changing them takes a conflicting lock
  -- (rowrelay.make_trigger_function).
  if b.state = 'running' and rowrelay.full_name(b.part) is not null then
    execute format('lock table only %s in row exclusive mode', b.part);
  end if;
  select c.* into strict capture from rowrelay.capture c where c.id = b.capture;
  select t.* into strict target from rowrelay.target t where t.id = b.target;

  outcome := 'waits';
  passed := 0;
  held := 0;
  if b.state in ('copying', 'joining') then
    note := 'the table is being copied as a whole';
  elsif b.state in ('done', 'cancelled') then
    outcome := b.state;
    note := b.note;
  elsif capture.released_at is not null or target.dropped_at is not null
     or not rowrelay.goes_to(b.capture, b.target) then
    outcome := 'cancelled';
    note := 'the table is no longer routed to the target';
  elsif rowrelay.full_name(capture.relation) is null then
    outcome := 'cancelled';
    note := 'the table is gone';
  elsif b.way = 'copy' and capture.key_columns = '{}' then
    note := 'a table without a key can only be copied as a whole';
  elsif cardinality(rowrelay.live_key(capture)) = 0 then
    note := 'a key column was dropped: capture the table again';
  elsif capture.lane_state is distinct from rowrelay.lane_state(capture) then
    note := 'the key was altered: waits until maintenance replaces the trigger function';
  elsif b.state = 'waiting' then
    select w.waits_for, w.waits_since, w.note into b.waits_for, b.waits_since, note
      from rowrelay.backfill_waits(b, capture) as w;
    if b.waits_for = '{}' then
      outcome := 'progress';
      b.state := 'running';
      b.started_at := clock_timestamp();
      b.part := rowrelay.backfill_part(capture, null);
    end if;
  elsif exists (select from rowrelay.hold h where h.target = b.target and h.capture = b.capture) then
    -- else all rows would join the changes that wait there
    note := format('target "%s" cannot take the table: rowrelay status says why', target.name);
  elsif (b.looked_at_rows is null or b.rows_queued >= b.looked_at_rows + look_each)
        and rowrelay.backlog(target, most_queued) >= most_queued then
    note := format('waits for the delivery of %s queued changes to target "%s"%s', most_queued, target.name,
                   case when not exists (select from rowrelay.instance i
                                          where rowrelay.is_alive(i.heartbeat_at)
                                            and (i.targets is null or target.id = any (i.targets)))
                        then ', but no rowrelay run delivers to it' end);
  else
    outcome := 'progress';
    if b.looked_at_rows is null or b.rows_queued >= b.looked_at_rows + look_each then
      b.looked_at_rows := b.rows_queued;
    end if;
    if b.part is not null then
      select p.* into piece from rowrelay.backfill_piece(b, capture, target, most_rows) as p;
      passed := piece.passed;
      held := piece.held;
      b.rows_read := b.rows_read + piece.passed;
      b.rows_queued := b.rows_queued + piece.queued;
      b.position := piece.bound;
      if piece.passed < most_rows then
        b.part := rowrelay.backfill_part(capture, b.part);
        b.position := null;
      end if;
    end if;
    if b.part is null then
      outcome := 'done';
    end if;
  end if;

  if outcome in ('done', 'cancelled') and b.state <> outcome then
    b.state := outcome;
    b.finished_at := clock_timestamp();
    -- A mirror may still have rows that were deleted meanwhile.
    if outcome = 'done' and b.row_filter is null and not rowrelay.is_mirror(target) then
      delete from rowrelay.gap g where g.capture = b.capture and g.target = b.target and g.noted_at < b.registered_at;
    end if;
  end if;
  queued := b.rows_queued;
  read := b.rows_read;
  estimated := b.rows_estimated;
  rate := b.rate;
  update rowrelay.backfill k
     set state = b.state, way = case when outcome = 'progress' then 'pieces' else k.way end, waits_for = b.waits_for,
         waits_since = b.waits_since, part = b.part, position = b.position, rows_read = b.rows_read,
         rows_queued = b.rows_queued, looked_at_rows = b.looked_at_rows,
         note = backfill_step.note, retry_at = null, started_at = b.started_at, finished_at = b.finished_at
   where k.id = backfill_id;
end
$$;
