-- Purpose:    returns a row as it was before an update or delete: the image kept with the change, else that of the
--             row's previous change
-- Parameters: the change; its capture; the row's previous change, null: the log has none
-- Result:     see rowrelay.row_texts()
-- Errors:     the log has neither
create or replace function rowrelay.row_before(change rowrelay.change, capture rowrelay.capture,
                                               latest rowrelay.change) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  kept jsonb := rowrelay.row_texts(capture, change, change.old_row);
begin
  if kept is not null and (change.op = 'u' or rowrelay.is_whole_row(capture, kept)) then
    return kept;
  end if;
  if latest.capture = change.capture and latest.new_row is not null then
    perform rowrelay.check_not_redacted(latest, capture);
    return rowrelay.row_texts(capture, latest, latest.new_row) || coalesce(kept, '{}');
  end if;
  raise exception 'the log does not have row % of table % as it was before change %', change.key,
    capture.relation, change.id
    using errcode = 'object_not_in_prerequisite_state',
          detail = 'No image before the change was kept, and the row''s previous change is not in the log.',
          hint = 'To keep such images from now on: '
                   || rowrelay.command('rowrelay capture %s --before',
                                       'select rowrelay.capture_table(%L, before => ''full'');',
                                       rowrelay.full_name(capture.relation));
end
$$;
