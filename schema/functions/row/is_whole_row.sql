-- Purpose:    whether an image of a deleted row is the whole row rather than only its key (rowrelay.key_row)
-- Parameters: capture; values, see rowrelay.row_texts()
-- Result:     true also for an image from before columns were added, which have higher numbers than those in the image
create or replace function rowrelay.is_whole_row(capture rowrelay.capture, image jsonb) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  with wanted as (
    select a.attnum, a.attname in (select jsonb_object_keys(image)) as is_there,
           a.attnum = any (capture.key_columns || rowrelay.document_columns(capture.id)) as is_always_there
      from pg_attribute a, rowrelay.image_columns(capture) as i
     where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
       and (i.keep is null or a.attname = any (i.keep)) and a.attname <> all (i.leave_out)
  )
  select (bool_or(w.is_there and not w.is_always_there) or bool_and(w.is_there))
     and not bool_or(not w.is_there and w.attnum < (select max(t.attnum) from wanted t where t.is_there))
    from wanted w
$$;
