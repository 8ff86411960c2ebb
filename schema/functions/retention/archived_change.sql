-- Purpose:    returns the change in a line that rowrelay.archive_line() wrote
create or replace function rowrelay.archived_change(line text) returns rowrelay.change
language plpgsql stable as $$
declare
  change rowrelay.change := json_populate_record(null::rowrelay.change, line::json);
begin
  if json_typeof(change.old_row) = 'string' then
    change.old_row := (change.old_row #>> '{}')::json;
  end if;
  if json_typeof(change.new_row) = 'string' then
    change.new_row := (change.new_row #>> '{}')::json;
  end if;
  if json_typeof(change.caveat) = 'string' then
    change.caveat := (change.caveat #>> '{}')::json;
  end if;
  return change;
end
$$;
