-- Purpose:    a row image for readers that would make something else of its numbers: in JavaScript 9007199254740993 is
--             9007199254740992, and 900.50 is 900.5
-- Parameters: image
-- Result:     [[column, its value as it is written in JSON, as text], ...] in the order of the image; null for null
create or replace function rowrelay.image_texts(image json) returns json
language sql stable as $$
  select json_agg(json_build_array(e.name, e.value::text) order by e.position)
    from json_each(image) with ordinality as e(name, value, position)
$$;
