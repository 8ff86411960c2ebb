-- Purpose:    copies the rows that are in a captured table to a target that it is routed to. This only says that it is
--             wanted: a running `rowrelay run` does it, piece by piece, and so does `rowrelay backfill`. One that was not
--             finished goes on where it was; one that was done begins anew.
-- Parameters: relation; target; row_filter: condition on the rows to copy (null: all that are captured); rate: rows per
--             second at most (null: as fast as it goes)
-- Result:     its number in rowrelay.backfill
-- Errors:     the table is not captured, not routed there, or has no key; no such target; another filter than that of the
--             backfill that is not finished
create or replace function rowrelay.backfill(relation regclass, target text, row_filter text default null,
                                             rate integer default null) returns integer
language plpgsql as $$
declare
  capture    rowrelay.capture := rowrelay.captured(relation);
  target_id  integer := rowrelay.target_id(target);
  part       regclass;
  found_id   integer;
  unfinished rowrelay.backfill;
begin
  if not rowrelay.goes_to(capture.id, target_id) then
    raise exception 'table % is not routed to target "%"', relation, target using errcode = 'undefined_object',
      hint = format('Route it first: select rowrelay.route(%L, %L);', relation, target);
  end if;
  if cardinality(rowrelay.live_key(capture)) = 0 then
    raise exception 'table % has no key', relation using errcode = 'object_not_in_prerequisite_state',
      detail = 'A row that is written while it is copied would arrive twice, because nothing tells that both are one.',
      hint = 'Give it a primary key, or name columns that identify a row: rowrelay capture --key.';
  end if;
  -- a partition may not exist yet, or have gone, when its turn comes
  for part in
    select m from unnest(rowrelay.captured_tables(capture)) as m join pg_class c on c.oid = m and c.relkind = 'r'
     where rowrelay.backfill_order(m, '{}') = '{}'
  loop
    raise exception 'table % has no order in which it can be read piece by piece', part
      using errcode = 'object_not_in_prerequisite_state',
            hint = 'Make a unique index on columns that are not null.';
  end loop;

  select b.* into unfinished from rowrelay.backfill b
   where b.capture = capture.id and b.target = target_id and b.state in ('waiting', 'running');
  if found then
    if unfinished.row_filter is distinct from backfill.row_filter then
      raise exception 'a backfill of table % into target "%" is under way with another filter', relation, target
        using errcode = 'object_not_in_prerequisite_state',
              detail = coalesce('Its filter is: ' || unfinished.row_filter, 'It has none.'),
              hint = format('Let it finish, or give it up: select rowrelay.cancel_backfill(%L, %L);', relation, target);
    end if;
    update rowrelay.backfill b set rate = backfill.rate, retry_at = null where b.id = unfinished.id;
    return unfinished.id;
  end if;

  insert into rowrelay.backfill as b (capture, target, row_filter, condition, rate, rows_estimated)
  values (capture.id, target_id, row_filter,
          case when row_filter is not null then rowrelay.filter_expression(relation, row_filter, 'new') end,
          rate, rowrelay.estimated_rows(relation))
  on conflict on constraint one_for_each_route do update
    set state = 'waiting', row_filter = excluded.row_filter, condition = excluded.condition, rate = excluded.rate,
        waits_for = null, waits_since = null, part = null, position = null, rows_read = 0, rows_queued = 0,
        rows_estimated = excluded.rows_estimated, looked_at_rows = null, note = null, retry_at = null, registered_at = now(),
        started_at = null, finished_at = null
  returning b.id into found_id;
  return found_id;
end
$$;
