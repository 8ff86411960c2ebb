-- Purpose:    returns the images of two rows, the same byte for byte as the trigger functions make them
--             (rowrelay.image_statements)
-- Parameters: capture; rows before and after, null where there is none; whether the image before is kept: then both
--             take one form
-- Result:     images without left-out columns; null where there is no row, or it is not kept; their caveat
create or replace function rowrelay.row_images(capture rowrelay.capture, before_row record, after_row record,
                                               keeps_before boolean,
                                               out old_row json, out new_row json, out caveat json)
language plpgsql as $$
declare
  new_image constant record := rowrelay.image_expression(capture, 'new', case when keeps_before then 'old' end);
  old_image constant record := rowrelay.image_expression(capture, 'old', 'new');
begin
  execute format('select %s, %s, %s from %s',
                 case when keeps_before and before_row is distinct from null then old_image.image else 'null' end,
                 case when after_row is distinct from null then new_image.image else 'null' end,
                 case when new_image.text_columns is null then 'null'
                      else format('case when %1$s <> ''{}'' then pg_catalog.json_build_object(''text_columns'', '
                                  '%1$s) end',
                                  new_image.text_columns) end,
                 rowrelay.rows_given(before_row, after_row))
     into old_row, new_row, caveat using before_row, after_row;
end
$$;
