-- Purpose:    whether the images of a change are what the row was: nulls in place of what was redacted are not
-- Parameters: change; its capture
-- Errors:     values of it were redacted
create or replace function rowrelay.check_not_redacted(change rowrelay.change, capture rowrelay.capture) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if change.caveat -> 'redacted' is not null then
    raise exception 'the log does not hold any more what row % of table % was', change.key, capture.relation
      using errcode = 'object_not_in_prerequisite_state',
            detail = format('Of change %s, columns %s were redacted.', change.id,
                            (select string_agg(c, ', ') from json_array_elements_text(change.caveat -> 'redacted') as c));
  end if;
end
$$;
