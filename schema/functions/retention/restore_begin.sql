-- Purpose:    begins to restore a day from an archive: the caller then copies the lines after the header into the
--             temporary table rowrelay_restored
-- Parameters: header, the first line of the file
-- Result:     the day
-- Errors:     the file is no archive, or of another source; the day is in the log, or may still be written to
create or replace function rowrelay.restore_begin(header text) returns date
language plpgsql as $$
declare
  head json;
  day  date;
  held bigint;
begin
  begin
    head := header::json;
    day := (head ->> 'day')::date;
  exception when data_exception then
    head := null;
  end;
  if head ->> 'rowrelay' is distinct from 'archive' or day is null then
    raise exception 'this is not an archive of rowrelay' using errcode = 'invalid_parameter_value',
      hint = 'Name a file with an archived day.';
  elsif head ->> 'format' <> '1' then
    raise exception 'the archive of % has format %, which this version cannot read', day, head ->> 'format'
      using errcode = 'feature_not_supported', hint = 'Use a newer version of rowrelay.';
  elsif (head ->> 'source')::uuid <> (select s.id from rowrelay.source s) then
    raise exception 'the archive of % is from another source', day using errcode = 'invalid_parameter_value',
      detail = 'The numbers of its tables mean other tables here.',
        hint = 'Each line of the file is JSON: read it with zcat.';
  end if;
  if day >= (select s.open_from from rowrelay.source s) then
    raise exception 'day % is not over yet', day using errcode = 'object_not_in_prerequisite_state';
  end if;
  if to_regclass('rowrelay.change_' || to_char(day, 'YYYYMMDD')) is not null then
    execute format('select c.id from %s c limit 1', 'rowrelay.change_' || to_char(day, 'YYYYMMDD')) into held;
  end if;
  if held is not null then
    raise exception 'day % is in the log', day using errcode = 'object_not_in_prerequisite_state',
      hint = case when exists (select from rowrelay.day d
                               where d.day = (head ->> 'day')::date and d.restored_at is not null)
                  then 'It was restored before; to drop it: '
                         || rowrelay.command('rowrelay prune --restored',
                                             'select * from rowrelay.prune(restored => true);')
                  else 'It need not be restored.' end;
  end if;
  create temporary table rowrelay_restored (line text) on commit drop;
  return day;
end
$$;
