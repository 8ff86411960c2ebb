-- Purpose:    refuses a change whose images no longer show what the row was, because values were redacted
-- Parameters: change; its capture
-- Errors:     values of the change were redacted
create or replace function rowrelay.check_not_redacted(change rowrelay.change, capture rowrelay.capture) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if change.caveat -> 'redacted' is not null then
    raise exception 'the log no longer has all values of row % of table %', change.key, capture.relation
      using errcode = 'object_not_in_prerequisite_state',
            detail = format('In change %s, columns %s were redacted.', change.id,
                            (select string_agg(c, ', ')
                             from json_array_elements_text(change.caveat -> 'redacted') as c));
  end if;
end
$$;
