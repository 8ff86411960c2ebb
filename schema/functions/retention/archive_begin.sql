-- Purpose:    begins to archive a day: until the transaction ends, nothing else modifies its changes
-- Parameters: day
-- Result:     header of the file; statement that copies its changes out, one per line; or note: why it cannot be
--             archived
-- Errors:     lock_not_available: another session is modifying or deleting its changes
create or replace function rowrelay.archive_begin(day date, out header text, out statement text, out note text)
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '1s' as $$
declare
  partition constant text := 'rowrelay.change_' || to_char(day, 'YYYYMMDD');
  closed    rowrelay.day;
  changes   bigint;
begin
  -- images are JSON already; times shall look alike in all files
  perform set_config('timezone', 'UTC', true), set_config('datestyle', 'ISO', true),
    set_config('synchronous_commit', 'on', true);
  select d.* into strict closed from rowrelay.day d where d.day = archive_begin.day for update;
  if closed.dropped_at is not null then
    note := 'another session has just dropped it';
    return;
  end if;
  note := (select string_agg(u, '; ') from rowrelay.undelivered(day, closed.first_id, closed.last_id) as u);
  if note is not null then
    return;
  end if;
  execute format('lock table only %s in share mode', partition);
  execute format('select count(*) from %s', partition) into changes;
  header := json_build_object('rowrelay', 'archive', 'format', 1, 'source', (select s.id from rowrelay.source s),
                              'day', day,
              'changes', changes, 'first_id', closed.first_id, 'last_id', closed.last_id,
              'captures', (select json_object_agg(c.id, c.relation_name) from rowrelay.capture c))::text;
  -- JSON never contains these bytes, so COPY neither quotes nor escapes anything.
  statement := format(E'copy (select rowrelay.archive_line(c) from rowrelay.change c where c.day = %L order by c.id) '
                      'to stdout (format csv, quote e''\\x01'', delimiter e''\\x02'')', day);
end
$$;
