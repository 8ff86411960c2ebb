-- Purpose:    returns a row image in which some columns are strings of their text, because JSON does not preserve their
--             values: JSON null, \u0000 or half of a surrogate pair in json, an array that does not begin at 1, a type
--             with a JSON form of its own
-- Parameters: image; {name: text or null}: a column whose text is not null is replaced by that string
-- Result:     the image
create or replace function rowrelay.exact_image(image json, texts json) returns json
language sql stable set search_path = pg_catalog, pg_temp set jit = off as $$
  -- takes keys and values from the text unparsed, because \u0000 in it could not be read
  select json_object_agg(e.key, case when json_typeof(texts -> e.key) = 'string' then texts -> e.key else e.value end)
    from json_each(image) as e
$$;
