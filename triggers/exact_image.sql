-- Purpose:    a row image in which some columns are given as a string of their text, because their JSON would not bring
--             the value back: JSON null, \u0000 or half of a surrogate pair in json, an array that does not begin at 1, a type with a JSON form of
--             its own
-- Parameters: image; {name: text or null}: a column whose value is not null is put in as that string
-- Result:     the image
create or replace function rowrelay.exact_image(image json, texts json) returns json
language sql stable set search_path = pg_catalog, pg_temp as $$
  -- keys and values are taken from the text as it is, so \u0000 in it is never read
  select json_object_agg(e.key, case when json_typeof(texts -> e.key) = 'string' then texts -> e.key else e.value end)
    from json_each(image) as e
$$;
