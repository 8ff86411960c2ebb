-- Purpose:    returns the result of rowrelay.changed() for the same readers as rowrelay.image_texts()
-- Parameters: {"column": [before, after]}
-- Result:     [[column, value before, value after], ...], values as text; null for null
create or replace function rowrelay.changed_texts(changed json) returns json
language sql stable as $$
  select json_agg(json_build_array(e.name, (e.value -> 0)::text, (e.value -> 1)::text) order by e.position)
    from json_each(changed) with ordinality as e(name, value, position)
$$;
