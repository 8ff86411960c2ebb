-- Purpose:    ends a statement that needs the image of a row which the log has not
-- Parameters: relation; key, null: it is not known; the change that is too late, or that has no image
-- Result:     none
-- Errors:     no_data_found, always
create or replace function rowrelay.missing_image(relation regclass, key text, change_id bigint) returns json
language plpgsql stable as $$
begin
  if key is null then
    raise exception 'it is not in the log which row of table % change % is about', relation, change_id
      using errcode = 'no_data_found',
            detail = (select 'It could not be captured: ' || (h.caveat ->> 'problem') || '.' from rowrelay.readable_change h where h.id = change_id),
            hint = 'Ask for a later moment, or for one row.';
  end if;
  raise exception 'what row % of table % was before change % is not in the log', key, relation, change_id
    using errcode = 'no_data_found',
          detail = 'That change is the first of it, or follows one that could not be captured, and the row before it was not kept.',
          hint = 'Tables that are captured with before => ''full'', or were empty then, have no such gaps.';
end
$$;
