-- Purpose:    the row as it was before an update or a delete: the image that was kept of it, else the one that the change
--             before it left
-- Parameters: the change; its capture; the change of the row before this one, null: the log has none
-- Result:     see rowrelay.row_texts()
-- Errors:     the log holds neither
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
  raise exception 'the log does not hold what row % of table % was before change %', change.key, capture.relation, change.id
    using errcode = 'object_not_in_prerequisite_state',
          detail = 'No image of the row before was kept, and the change before this one is not in the log.',
          hint = format('For changes to come, have it kept: rowrelay capture %s --before', rowrelay.full_name(capture.relation));
end
$$;
