-- Purpose:    a row image in which some columns are null. Other values keep their text, digit for digit.
-- Parameters: image; names of columns
-- Result:     the image; null for null
create or replace function rowrelay.redacted_image(image json, columns text[]) returns json
language sql immutable strict set search_path = pg_catalog, pg_temp as $$
  -- keys and values are taken from the text as it is, so \u0000 in it is never read
  select ('{' || coalesce(string_agg(to_json(e.key)::text || ':' || case when e.key = any (columns) then 'null' else e.value::text end,
                                     ',' order by e.n), '') || '}')::json
    from json_each(image) with ordinality as e(key, value, n)
$$;
