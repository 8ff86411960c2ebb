-- Purpose:    finds what a query of a table's past needs: the part of the log to read, which changes count, and
--             truncates
-- Parameters: relation; at: a time, or null; seen: a snapshot, or null; key: of the one wanted row, null: all
-- Result:     see rowrelay.past
-- Errors:     the table is not captured; the caller may not read it; the log does not reach back to that time
create or replace function rowrelay.past_of(relation regclass, at timestamptz, seen pg_snapshot, key text)
  returns rowrelay.past
language plpgsql stable as $$
declare
  past       rowrelay.past;
  capture    rowrelay.capture;
  begun      rowrelay.shape;
  pruned     boolean;
  unfinished xid8[] := '{}';
  emptied    bigint;
  unknown    bigint;
  told       record;
  since      text;
begin
  select c.* into capture from rowrelay.capture c where c.relation = past_of.relation order by c.id desc limit 1;
  select s.* into begun from rowrelay.shape s where s.capture = capture.id and s.begins order by s.id desc limit 1;
  perform rowrelay.check_past(relation, capture, begun, at, seen);
  pruned := capture.log_since > begun.noticed_at;

  past.capture := capture;
  past.begun := begun;
  past.shape := rowrelay.current_shape(capture);
  past.log := format('rowrelay.readable_change h where h.capture = %s and h.id > %s', capture.id, begun.from_id);
  if key is not null then
    select * into told
      from rowrelay.past_of_key(past.capture, begun.from_id,
                                case when pruned then capture.log_since else '-infinity' end,
                                                 at, seen, key);
    unfinished := told.unfinished;
    past.log := past.log || format(' and h.id = any (%L) and h.day = any (%L)', told.ids, told.days);
    past.recent := past.log;
  else
    select format('h.id > %s and h.day >= %L', t.from_id, t.from_day) into since from rowrelay.past_tick(at, seen) as t;
    past.recent := past.log || ' and ' || since;
    if seen is null then
      execute format(
          'select coalesce(array_agg(distinct o.txid), ''{}'') from (select h.* from %s) as o where '
          'o.captured_at <= %L '
                     'and o.txid in (select h.txid from rowrelay.readable_change h where %s and h.captured_at > %L)',
                     past.recent, at, since, at)
         into unfinished;
    end if;
  end if;
  past.counts := rowrelay.counts_at(at, seen, unfinished);

  execute format(
    'select max(h.change_id) filter (where h.is_known and h.condition is null and h.captured_at >= $3 and %1$s), '
    '       max(h.change_id) filter (where not h.is_known and %1$s), '
    '       min(h.change_id) filter (where not %1$s) '
    '  from rowrelay.readable_truncation h where h.capture = $1 and h.change_id > $2', past.counts)
    into emptied, unknown, past.cut_at
   using capture.id, begun.from_id, case when pruned then capture.log_since else '-infinity' end;
  past.complete := emptied is not null or (begun.was_empty and not pruned);
  past.known := coalesce(emptied, begun.from_id);
  if unknown > past.known then
    past.known := unknown;
    past.complete := false;
  end if;
  if pruned then
    -- later changes of the same row may have been dropped
    past.log := past.log || format(' and h.captured_at >= %L', capture.log_since);
  end if;
  return past;
end
$$;
