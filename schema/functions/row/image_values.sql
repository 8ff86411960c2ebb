-- Purpose:    returns SQL for the value that each column of a row has in its image, as the trigger makes it
--             (rowrelay.image_expression)
-- Parameters: relation; name of the row in the statement
-- Result:     number of each column; an expression of type json; for a json column a condition on its value: whether
--             the value is a string of the JSON, which caveat.text_columns tells; null: it never is
create or replace function rowrelay.image_values(relation regclass, row_name text, out number smallint, out value text,
                                                 out is_json_text text) returns setof record
language sql stable as $$
  select a.attnum,
         format(case when w.name is null then 'pg_catalog.to_json(%1$s)'
                     else 'case when %3$s then pg_catalog.to_json(%2$s) else pg_catalog.to_json(%1$s) end' end,
                rowrelay.safe_json(v.value, a.atttypid), rowrelay.safe_text(v.value, a.atttypid),
                format(w.condition, v.value)),
         case when w.is_json then format(w.condition, v.value) end
    from pg_attribute a
    cross join lateral format('%I.%I', row_name, a.attname) as v(value)
    left join rowrelay.awkward_columns(relation) w on w.name = a.attname
   where a.attrelid = relation and a.attnum > 0 and not a.attisdropped
$$;
