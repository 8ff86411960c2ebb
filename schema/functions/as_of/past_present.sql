-- Purpose:    SQL for the rows that a captured table has now, as far as they are captured
-- Parameters: capture; columns: present of rowrelay.past_columns()
-- Result:     a SELECT of them, from a row called new, that ends in a WHERE which can be continued
-- Errors:     as rowrelay.check_present(); the triggers with the row filter are gone
create or replace function rowrelay.past_present(capture rowrelay.capture, columns text) returns text
language plpgsql stable as $$
declare
  passes text := 'true';
begin
  perform rowrelay.check_present(capture);
  if capture.row_filter is not null then
    -- as the trigger reads it, whatever search_path or names were then
    select '(' || substring(pg_get_triggerdef(t.oid) from E' WHEN \\((.*)\\) EXECUTE FUNCTION ') || ')' into passes
      from pg_trigger t where t.tgrelid = capture.relation and t.tgname = '!rowrelay_insert';
    if passes is null then
      raise exception 'table % has lost its triggers', capture.relation
        using errcode = 'object_not_in_prerequisite_state', hint = 'Capture it again: run rowrelay capture.';
    end if;
  end if;
  return format('select %s from %s as new where %s', columns, capture.relation, passes);
end
$$;
