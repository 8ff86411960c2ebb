-- Purpose:    returns SQL for the captured rows that a table has now
-- Parameters: capture; columns: present of rowrelay.past_columns()
-- Result:     a SELECT from a row called new, ending in a WHERE clause that can be extended
-- Errors:     as for rowrelay.check_present(); the triggers with the row filter are missing
create or replace function rowrelay.past_present(capture rowrelay.capture, columns text) returns text
language plpgsql stable as $$
declare
  passes text := 'true';
begin
  perform rowrelay.check_present(capture);
  if capture.row_filter is not null then
    -- as the trigger stores it, independent of search_path and of renamed columns
    select '(' || substring(pg_get_triggerdef(t.oid) from E' WHEN \\((.*)\\) EXECUTE FUNCTION ') || ')' into passes
      from pg_trigger t where t.tgrelid = capture.relation and t.tgname = '!rowrelay_insert';
    if passes is null then
      raise exception 'table % has lost its triggers', capture.relation
        using errcode = 'object_not_in_prerequisite_state',
          hint = 'Capture it again: '
                   || rowrelay.command('rowrelay capture %s', 'select rowrelay.capture_table(%L);',
                                       capture.relation::text);
    end if;
  end if;
  return format('select %s from %s as new where %s', columns, capture.relation, passes);
end
$$;
