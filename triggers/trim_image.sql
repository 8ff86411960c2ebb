-- Purpose:    returns a row image without left-out columns and with masks in place of values
-- Parameters: image; names to keep (null: all); names to leave out; {name: value to show instead}
-- Result:     the image; null for null
create or replace function rowrelay.trim_image(image json, keep text[], leave_out text[], masks json) returns json
language sql stable set search_path = pg_catalog, pg_temp as $$
  select case
    when image is null or keep is null and cardinality(leave_out) = 0 and masks::text = '{}' then
      image
    else
      (select coalesce(json_object_agg(e.key, coalesce(masks -> e.key, e.value)), '{}')
         from json_each(image) as e
        where (keep is null or e.key = any (keep)) and e.key <> all (leave_out))
  end
$$;
