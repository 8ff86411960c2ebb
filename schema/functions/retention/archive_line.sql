-- Purpose:    returns a change as one line of JSON, from which rowrelay.archived_change() restores it exactly. Images
--             keep their text to the byte; one with line breaks becomes a string.
create or replace function rowrelay.archive_line(change rowrelay.change) returns text
language plpgsql stable as $$
declare
  line text := row_to_json(change)::text;
begin
  if line ~ E'[\\n\\r]' then
    change.old_row := case when change.old_row::text ~ E'[\\n\\r]' then to_json(change.old_row::text)
      else change.old_row end;
    change.new_row := case when change.new_row::text ~ E'[\\n\\r]' then to_json(change.new_row::text)
      else change.new_row end;
    change.caveat := case when change.caveat::text ~ E'[\\n\\r]' then to_json(change.caveat::text)
      else change.caveat end;
    line := row_to_json(change)::text;
  end if;
  return line;
end
$$;
