-- Purpose:    returns SQL for columns of a row as JSON that preserves their values. Values that JSON does not preserve
--             become text, as in images: an array that does not begin at 1, a type with a JSON form of its own.
-- Parameters: relation; names of its columns; name of the row
-- Result:     an expression of type json; null when there are no names
create or replace function rowrelay.key_json(relation regclass, names text[], row_name text) returns text
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  return (
    select format('pg_catalog.json_build_object(%s)', string_agg(
             format(case when w.name is null then '%1$L, %3$s'
                         else '%1$L, case when %2$s then pg_catalog.to_json(%4$s) '
                              'else pg_catalog.to_json(%3$s) end' end,
                    u.name, format(w.condition, v.value), rowrelay.safe_json(v.value, a.atttypid),
                    rowrelay.safe_text(v.value, a.atttypid)),
             ', ' order by u.position))
      from unnest(names) with ordinality as u(name, position)
      join pg_attribute a on a.attrelid = relation and a.attname = u.name and not a.attisdropped
      cross join lateral format('%I.%I', row_name, u.name) as v(value)
      left join rowrelay.awkward_columns(relation) w on w.name = u.name and not w.is_json
    having count(*) > 0);
end
$$;
