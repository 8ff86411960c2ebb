-- Purpose:    refuses a change whose images no longer show what the row was, because values were redacted
-- Parameters: change; its capture
-- Errors:     values of the change were redacted
create or replace function rowrelay.check_not_redacted(change rowrelay.change, capture rowrelay.capture) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if change.caveat -> 'redacted' is not null then
    raise exception 'row % of table % cannot be undone: change % is redacted', change.key, capture.relation, change.id
      using errcode = 'object_not_in_prerequisite_state',
            detail = format('The values of these columns were removed from the log, which has null for them: %s.',
                            (select string_agg(c, ', ')
                             from json_array_elements_text(change.caveat -> 'redacted') as c)),
            hint = 'Correct the row by hand; for what the log has: '
                     || rowrelay.command('rowrelay log %s',
                                         'select * from rowrelay.history where relation = %L::regclass;',
                                         capture.relation::text);
  end if;
end
$$;
