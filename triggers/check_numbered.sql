-- Purpose:    refuses to read the past of a table by numbers of columns that are another table's, where the database
--             was restored from a dump and nobody has stored others yet; see rowrelay.renumber()
-- Parameters: capture as it is stored
-- Errors:     its numbers are not valid here
create or replace function rowrelay.check_numbered(capture rowrelay.capture) returns void
language plpgsql stable as $$
begin
  if capture.numbered_at <> rowrelay.numbered_here(capture.relation) then
    raise exception 'the database was restored, and its log does not know the columns of table % yet', capture.relation
      using errcode = 'object_not_in_prerequisite_state',
            hint = 'A process that runs stores them: '
                     || rowrelay.command('rowrelay run', 'select * from rowrelay.maintain();');
  end if;
end
$$;
