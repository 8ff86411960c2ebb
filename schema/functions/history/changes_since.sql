-- Purpose:    hands out the log, each change once, however late its transaction commits: for a consumer that keeps a
--             cursor and needs no target. Ids alone would miss a change: they are assigned while transactions run, so a
--             smaller one may appear after a larger one was read.
--
--             A cursor is a snapshot, up to which all is read, or two: what lies between them is being read, in order
--             of ids, from the one that it names on. What lies between two snapshots is visible in the second and not
--             in the first. Changes of a row are in order: who changes it again has seen the change before, and takes a
--             larger id. Ticks tell from which id to search (rowrelay.tick); without a running process, which takes
--             them, a call reads all of the log since the last one.
--
--             What is handed out cannot be forgotten in a crash: a snapshot is used when it is on the disk. So no
--             change comes twice, and transactions that get the ids of forgotten ones are new.
--
--             A standby that takes over, a recovery to a point in time, or a copy of the files that is put back may
--             have lost what the cursor has seen, and transactions get its numbers again. A timeline's number does not
--             tell: files that are put back keep it, and two standbys of one primary get the same. So a cursor names
--             the run of the server that gave it, by timeline and start, and rowrelay.server_start has the runs that
--             this server goes on from.
--             - A run that is not among them: nothing tells what is common, and the cursor is refused. (If it had not
--               been noted either where the cursor was given, the cursor names the one before it on that timeline, too,
--               and that counts: as where no process ever runs.)
--             - The timeline is the same, and what the cursor has seen had ended when the next run was noted: an
--               ordinary restart. Nothing is lost, and reading goes on.
--             - Else reading goes on from the last tick of the cursor's run that this server has, or of one before it:
--               up to there both are the same. What came after it comes once more.
-- Parameters: cursor, '': the log from its beginning, 'now': what is committed from now on; how many changes at most;
--             of which tables, null: of all that the caller may read
-- Result:     changes as in rowrelay.history, each with the cursor that goes on behind it; then, if there are no more,
--             a row with a cursor alone. Keep the last row's cursor in the transaction that keeps the changes.
-- Errors:     the cursor is not one of this function, or of another source, or of before the log was restored; '' where
--             it was restored into another server; this server has lost what the cursor has seen, or may have; the log
--             was dropped before it was read; the caller may not read one of the tables, or it was dropped; this server
--             is a standby
create or replace function rowrelay.changes_since(cursor text, max_changes integer default 1000,
                                                  relations regclass[] default null)
  returns table (next_cursor text, change_id bigint, relation regclass, op text, key text, old_row json, new_row json,
                 captured_at timestamptz, txid xid8, actor text, problem text)
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
  mark    constant text := rowrelay.log_mark();
  line    constant integer := rowrelay.timeline();
  began   constant bigint := rowrelay.server_started();
  here    text;        -- what each cursor begins with that is given now
  parts   text[];      -- of the cursor: mark, timeline, start, start that had been noted, since, until, after
  common  rowrelay.server_start; -- the last run that both know
  seen    xid8;        -- no transaction with a number so large has ended for the cursor
  bound   xid8;        -- nor, here, for the runs up to the common one
  now_era integer;     -- another one if the log was restored from a dump into another server
  since   pg_snapshot; -- up to it all is read
  until   pg_snapshot; -- up to it is being read
  after   bigint := 0; -- from this id on
  is_lost boolean := false; -- whether what came after the last common tick may be
  known   rowrelay.tick;
  first   bigint;
  low     bigint;
  last    bigint;
  width   bigint := 2000; -- in ids, of which many may be unused
  given   bigint := 0;
  hidden  regclass;
begin
  if pg_is_in_recovery() then
    raise exception 'changes_since() does not work on a standby' using errcode = 'read_only_sql_transaction',
      hint = 'Connect to the primary.';
  end if;
  here := concat_ws('.', mark, line, began,
                    (select case when s.timeline = line then nullif(s.started, began) end
                       from rowrelay.server_start s order by s.id desc limit 1));
  parts := case coalesce(cursor, '')
    when '' then array[mark, line::text, began::text, null, '1:1:', null, null]
    when 'now' then array[mark, line::text, began::text, null, null, null, null]
    else regexp_match(cursor, '^([0-9a-f]{8})[.]([0-9]{1,9})(?:[.]([0-9]{1,18}))?(?:[.]([0-9]{1,18}))?'
                              '/([0-9]{1,19}:[0-9]{1,19}:[0-9,]*)'
                              '(?:/([0-9]{1,19}:[0-9]{1,19}:[0-9,]*)/([0-9]{1,18}))?$') end;
  begin
    since := parts[5];
    until := parts[6];
    after := coalesce(parts[7]::bigint, 0);
  exception when others then
    parts := null;
  end;
  if parts is null then
    raise exception 'this is not a cursor: %', left(cursor, 100) using errcode = 'invalid_parameter_value',
      hint = 'Give what changes_since() returned as next_cursor. An empty text begins with the oldest change, ''now'' '
             'with the next one.';
  end if;
  select t.* into known from rowrelay.tick t order by t.id desc limit 1;
  now_era := coalesce(known.era + (pg_snapshot_xmax(known.snapshot)
                                     > pg_snapshot_xmax(pg_current_snapshot()))::integer, 0);
  if parts[1] <> mark then
    raise exception 'this cursor is of another source, or the log was restored since' using
      errcode = 'object_not_in_prerequisite_state',
      hint = 'Begin again with ''now'', and read what is older from rowrelay.history.';
  end if;
  seen := pg_snapshot_xmax(coalesce(until, since));
  if parts[3] is not null and (parts[2]::integer <> line or parts[3]::bigint <> began) then
    select s.* into common
      from rowrelay.server_start s
     where s.timeline = parts[2]::integer and s.started in (parts[3]::bigint, parts[4]::bigint)
     order by s.id desc limit 1;
    bound := (select s.next_txid from rowrelay.server_start s where s.id > common.id order by s.id limit 1);
    is_lost := common.id is null or common.timeline <> line or coalesce(seen > bound, false);
    select t.* into known
      from rowrelay.tick t
     where is_lost and common.id is not null and t.era = now_era
       and pg_snapshot_xmax(t.snapshot) <= coalesce(bound, pg_snapshot_xmax(pg_current_snapshot()))
       and (t.timeline = common.timeline and t.started = common.started
            or pg_snapshot_xmax(t.snapshot) <= common.next_txid)
     order by pg_snapshot_xmax(t.snapshot) desc, t.id desc limit 1;
  elsif parts[2]::integer <> line then -- a cursor that names no run
    is_lost := true;
    select t.* into known from rowrelay.tick t where t.timeline = parts[2]::integer order by t.id desc limit 1;
  end if;
  if is_lost and known.id is null then
    raise exception 'it is not known how much of what this cursor has seen this server still has' using
      errcode = 'object_not_in_prerequisite_state',
      detail = 'The server failed over, or was restored. It does not go on from the one that gave the cursor, as far '
               'as is noted, or no rowrelay run had worked there.',
      hint = 'Begin again with ''now'', and read what is older from rowrelay.history.';
  elsif is_lost and seen > pg_snapshot_xmax(known.snapshot) then
    since := case when pg_snapshot_xmax(since) > pg_snapshot_xmax(known.snapshot) then known.snapshot else since end;
    until := null;
    after := 0;
  end if;
  -- It would go back, and hand out what was handed out, or over what this server is still to write.
  if not rowrelay.snapshot_includes(pg_current_snapshot(), coalesce(until, since)) then
    raise exception 'this server has lost what this cursor has seen' using
      errcode = 'object_not_in_prerequisite_state',
      hint = 'Begin again with ''now'', and read what is older from rowrelay.history. In a transaction that sees an '
             'older state than the cursor does, end it and ask once more.';
  end if;
  -- Transactions of the former server have other numbers: no snapshot of this one tells which of them it sees.
  if now_era > 0 and coalesce(cursor, '') = '' then
    raise exception 'the log has changes from before it was restored into this server' using
      errcode = 'object_not_in_prerequisite_state',
      detail = 'A cursor cannot tell in which order they were committed.',
      hint = 'Begin with ''now'', and read what is older from rowrelay.history.';
  end if;
  -- they would not come, and the cursor would go past them
  select r into hidden from unnest(relations) as r where not rowrelay.may_read(r) limit 1;
  if hidden is not null and not exists (select from pg_class c where c.oid = hidden) then
    raise exception 'table % was dropped', hidden using errcode = 'undefined_table',
      hint = 'Ask a role that may read the whole log for its changes: they are in rowrelay.history.';
  elsif hidden is not null then
    raise exception 'permission denied to read the log of table %', hidden using errcode = 'insufficient_privilege',
      hint = format('Grant it: grant select on %s to %I; rows must not be hidden by a policy.', hidden, current_user);
  end if;
  max_changes := coalesce(max_changes, 1000);
  -- most calls find nothing new, and need not wait for the disk
  if until is null and pg_current_snapshot()::text is distinct from since::text then
    until := rowrelay.durable_snapshot();
  end if;
  until := coalesce(until, since);
  since := coalesce(since, until);

  if since::text <> until::text then
    -- Searching begins where a tick says that took place before: xmax grows with time.
    select t.* into known
      from rowrelay.tick t
     where t.era = now_era and pg_snapshot_xmax(t.snapshot) < pg_snapshot_xmax(since)
     order by pg_snapshot_xmax(t.snapshot) desc, t.id desc limit 1;
    -- but for those that wrote then, and have ended between the two snapshots
    select least(known.low, min(w.first)) into first
      from unnest(known.writers, known.writers_from) as w(txid, first)
     where not pg_visible_in_snapshot(w.txid, since) and pg_visible_in_snapshot(w.txid, until);
    if now_era > 0 then -- not into what another server wrote
      first := greatest(first, (select t.high from rowrelay.tick t where t.era < now_era order by t.id desc limit 1));
    end if;
    -- In pieces of the log, small ones first: with a limit alone, each call would read and sort all that is left.
    after := greatest(after, first);
    low := after;
    last := rowrelay.last_change_id();
    while low < last and given < max_changes loop
      for change_id, relation, op, key, old_row, new_row, captured_at, txid, actor, problem in
        select h.change_id, h.relation, h.op, h.key, h.old_row, h.new_row, h.captured_at, h.txid, h.actor, h.problem
          from rowrelay.history h
         where h.change_id > low and h.change_id <= low + width
           and h.day >= coalesce(known.open_from, '-infinity')
           and not pg_visible_in_snapshot(h.txid, since) and pg_visible_in_snapshot(h.txid, until)
           and (relations is null or h.relation = any (relations))
           and h.op = any ('{insert,update,delete,truncate,snapshot}')
         order by h.change_id
         limit max_changes - given
      loop
        given := given + 1;
        next_cursor := concat_ws('/', here, since, until, change_id);
        return next;
      end loop;
      low := low + width;
      width := width * 4;
    end loop;
    perform rowrelay.check_log_behind(since, until, after, relations, cursor = '');
  end if;
  if given < max_changes then
    return query select concat_ws('/', here, until), null::bigint, null::regclass, null::text,
                        null::text, null::json, null::json, null::timestamptz, null::xid8, null::text, null::text;
  end if;
end
$$;
