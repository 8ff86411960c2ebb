-- Purpose:    begins to capture the changes of a table, or changes how it is captured. Takes SHARE ROW EXCLUSIVE on the
--             table for a moment, and blocks others for at most a tenth of a second at a time.
-- Parameters: relation; if the table is already captured, parameters below that are null stay as they are
--             key: columns that identify a row, with a unique index on them, or on some of them (default: primary key,
--               else a unique index on NOT NULL columns, else none)
--             lane: columns whose equal values keep changes in order (default: the key; {}: the whole table)
--             columns / exclude: columns to capture (default: all) / to leave out ({}: none)
--             mask: {"column": value to show instead} ({}: none)
--             row_filter: condition on a row; an update after which a row begins to meet it is captured as insert, one
--               after which it ceases to as delete (default, and '': none)
--             before: none (the default), or full to keep the image before an update too
--             capture_origin: also capture what rowrelay itself writes to this table (default: false)
--             lock_wait: how long to try for the lock
--             target: also route the table there; create_table: create the table there; create_like: how; see
--               rowrelay.route()
--             per: row (the default), or statement: capture each statement as a whole, which costs less for many rows.
--               A table that cannot be captured so is captured by row; view rowrelay.captures says why
--             reset: reset parameters that are null to their defaults
--             path: where names in row_filter are looked up (default: as in the caller's session)
-- Result:     id of the capture
--             Warns of columns or rows that were left out before and no longer are, of an unlogged table, of
--             foreign tables that belong to it, of row-level security that hides rows, of partitions that may share
--             keys, and of targets to which a dropped table of the same name went, whose capture ends.
-- Errors:     the relation cannot be captured; no unique index covers the key, or rows of the table and of inheritance
--             children share one; unknown columns; per statement is
--             wanted of a partitioned table, a partition, or a table with inheritance; no lock within lock_wait. Then
--             nothing has changed.
create or replace function rowrelay.capture_table(
  relation regclass, key text[] default null, lane text[] default null, columns text[] default null,
  exclude text[] default null, mask jsonb default null, row_filter text default null, before text default null,
  capture_origin boolean default null, lock_wait interval default '1 min', reset boolean default false,
  target text default null, create_table boolean default null, create_like text default null, per text default null,
  path text default rowrelay.names_path())
  returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  stored  record;
  was     rowrelay.capture;
  capture rowrelay.capture;
  begins  boolean;
begin
  select s.* into stored
    from rowrelay.store_capture(relation, key, lane, columns, exclude, mask, row_filter, before, capture_origin, reset,
                                null, per, path) as s;
  was := stored.was;
  capture := stored.capture;
  begins := was.id is null
         or (was.key_columns, was.row_filter, was.capture_origin)
            is distinct from (capture.key_columns, capture.row_filter, capture.capture_origin);
  if was.id is not null and begins then
    -- transactions that capture with the old options must have ended before the log starts again
    perform rowrelay.lock_tables(rowrelay.captured_tables(capture), 'share row exclusive', lock_wait);
  end if;
  if target is not null then
    perform rowrelay.add_route(capture, target, null, create_table, false, create_like);
  end if;
  perform rowrelay.release_former(capture, lock_wait);
  perform rowrelay.make_trigger_function(capture.id, lock_wait);
  perform rowrelay.attach_triggers(capture, was.id is not null and was.row_filter is distinct from capture.row_filter,
                                   lock_wait);
  if begins then
    perform rowrelay.begin_log(capture);
  end if;
  return capture.id;
end
$$;
