-- Purpose:    orders a copy of the existing rows of a captured table to a target that it is routed to. `rowrelay run`
--             and `rowrelay backfill` do the work. An unfinished backfill continues, and parameters that are null stay
--             as they were; a finished one starts again.
-- Parameters: relation; target; row_filter: condition on the rows to copy (null: all captured rows); rate: rows per
--             second at most (0: unlimited); copy: as a whole, if the target is an empty mirror, rather than piece by
--             piece; path: where names in row_filter are looked up (default: as in the caller's session)
-- Result:     its number in rowrelay.backfill
-- Errors:     the table is not captured or not routed there; it has no key and cannot be copied as a whole; rows
--             of it and of inheritance children share a key; no such target; the unfinished backfill has another filter
create or replace function rowrelay.backfill(relation regclass, target text, row_filter text default null,
                                             rate integer default null, copy boolean default true,
                                             path text default rowrelay.names_path()) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  capture    rowrelay.capture := rowrelay.captured(relation);
  target_id  integer := rowrelay.target_id(target);
  wanted_way text := 'copy';
  found_id   integer;
  unfinished rowrelay.backfill;
begin
  if not rowrelay.goes_to(capture.id, target_id) then
    raise exception 'table % is not routed to target "%"', relation, target using errcode = 'undefined_object',
      hint = 'Route it first: '
               || rowrelay.command('rowrelay route %s %s', 'select rowrelay.route(%L, %L);', relation::text, target);
  end if;
  if not copy or not exists (select from rowrelay.target t
                              where t.id = target_id and t.url ~ '^postgres(ql)?:.'
                                and coalesce(t.options ->> 'mode', 'mirror') = 'mirror'
                                and not exists (select from rowrelay.document d where d.target = t.id)) then
    perform rowrelay.check_pieces(capture);
    wanted_way := 'pieces';
  end if;

  select b.* into unfinished from rowrelay.backfill b
   where b.capture = capture.id and b.target = target_id and b.state in ('waiting', 'copying', 'joining', 'running');
  if found then
    if unfinished.row_filter is distinct from coalesce(backfill.row_filter, unfinished.row_filter) then
      raise exception 'a backfill of table % to target "%" with another filter is under way', relation, target
        using errcode = 'object_not_in_prerequisite_state',
              detail = coalesce('Its filter is: ' || unfinished.row_filter, 'It has none.'),
              hint = 'Let it finish, or cancel it: '
                     || rowrelay.command('rowrelay backfill %s --to %s --cancel',
                                         'select rowrelay.cancel_backfill(%L, %L);', relation::text, target);
    end if;
    update rowrelay.backfill b set rate = nullif(coalesce(backfill.rate, b.rate), 0), retry_at = null,
           give_up = case when b.state = 'copying' then null else b.give_up end,
           way = case when b.state = 'waiting' then wanted_way else b.way end
     where b.id = unfinished.id;
    return unfinished.id;
  end if;

  if rowrelay.has_children(relation) then
    perform rowrelay.check_children(capture, rowrelay.filter_condition(capture));
  end if;
  insert into rowrelay.backfill as b (capture, target, way, row_filter, condition, rate, rows_estimated)
  values (capture.id, target_id, wanted_way, row_filter,
          case when row_filter is not null then rowrelay.filter_expression(relation, row_filter, 'new', path) end,
          nullif(rate, 0), rowrelay.estimated_rows(relation))
  on conflict on constraint one_for_each_route do update
    set state = 'waiting', way = excluded.way, snapshot = null, give_up = null, row_filter = excluded.row_filter,
        condition = excluded.condition, rate = excluded.rate,
        waits_for = null, waits_since = null, part = null, position = null, rows_read = 0, rows_queued = 0,
        rows_estimated = excluded.rows_estimated, looked_at_rows = null, note = null, retry_at = null,
          registered_at = now(),
        started_at = null, finished_at = null
  returning b.id into found_id;
  return found_id;
end
$$;
