-- Purpose:    whether a text occurs in one of the values of a row image, rather than in the name of a column
-- Parameters: image; pattern for scalar values; pattern for arrays and objects
create or replace function rowrelay.holds_text(image json, pattern text, json_pattern text) returns boolean
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select exists (select from json_each(image) as e
                  where case when json_typeof(e.value) in ('array', 'object') then e.value::text ilike json_pattern
                             else (image ->> e.key) ilike pattern end)
$$;
