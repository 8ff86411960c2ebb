-- Purpose:    returns the differences between two images of a row. Columns that only one of them has (added or dropped
--             in between, or only the key was kept) are not compared. Values are compared as text, so a json value
--             differs even if only its white space does.
-- Parameters: row before; row after
-- Result:     {"column": [before, after]}; null when one of the images is missing
create or replace function rowrelay.changed(old_row json, new_row json) returns json
language sql stable parallel safe as $$
  select ('{' || coalesce(string_agg(concat(to_json(a.key), ': [', b.value, ', ', a.value, ']'), ', '
                                     order by a.position), '') || '}')::json
    from json_each(new_row) with ordinality as a(key, value, position)
    join json_each(old_row) as b on b.key operator(pg_catalog.=) a.key
   where b.value::text operator(pg_catalog.<>) a.value::text
  having old_row is not null and new_row is not null
$$;
