-- Purpose:    raises the error for a row image that the log does not have
-- Parameters: relation; key, null: not known; the change that is too late or has no image
-- Result:     none
-- Errors:     always no_data_found
create or replace function rowrelay.missing_image(relation regclass, key text, change_id bigint) returns json
language plpgsql stable as $$
begin
  if key is null then
    raise exception 'the log does not say which row of table % change % belongs to', relation, change_id
      using errcode = 'no_data_found',
            detail = (select 'It could not be captured: ' || (h.caveat ->> 'problem') || '.'
                      from rowrelay.readable_change h where h.id = change_id),
            hint = 'Ask for a later time, or for one row.';
  end if;
  raise exception 'the log does not have row % of table % as it was before change %', key, relation, change_id
    using errcode = 'no_data_found',
          detail = 'That change is the row''s first, or follows one that could not be captured, and no image before it '
                   'was kept.',
          hint = 'To keep such images from now on: '
                   || rowrelay.command('rowrelay capture %s --before',
                                       'select rowrelay.capture_table(%L, before => ''full'');', relation::text);
end
$$;
