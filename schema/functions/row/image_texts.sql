-- Purpose:    returns a row image for readers that would change its numbers: JavaScript reads 9007199254740993 as
--             9007199254740992 and 900.50 as 900.5
-- Parameters: image
-- Result:     [[column, its value as it is written in JSON, as text], ...] in the order of the image; null for null and
--             for what is no row, such as the keys of a refreshed document
create or replace function rowrelay.image_texts(image json) returns json
language sql stable as $$
  select json_agg(json_build_array(e.name, e.value::text) order by e.position)
    from json_each(case when json_typeof(image) = 'object' then image end) with ordinality as e(name, value, position)
$$;
