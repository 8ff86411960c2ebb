-- Purpose:    returns a row image in which some columns are null. Other values keep their text, digit for digit.
-- Parameters: image; names of columns
-- Result:     the image; null for null
create or replace function rowrelay.redacted_image(image json, columns text[]) returns json
language sql immutable strict set search_path = pg_catalog, pg_temp as $$
  -- takes keys and values from the text unparsed, because \u0000 in it could not be read
  select ('{' || coalesce(string_agg(to_json(e.key)::text || ':' || case when e.key = any (columns) then 'null'
                                     else e.value::text end,
                                     ',' order by e.n), '') || '}')::json
    from json_each(image) with ordinality as e(key, value, n)
$$;
