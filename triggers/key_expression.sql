-- Purpose:    returns SQL for the text of a key: the text of a single column, a JSON array of several
-- Parameters: relation; attribute numbers; name of the row: new, old or either, see rowrelay.row_value()
-- Result:     an expression; 'null' when there is no key
create or replace function rowrelay.key_expression(relation regclass, numbers smallint[], row_name text) returns text
language plpgsql stable as $$
declare
  parts text[];
  texts text[];
begin
  -- numeric keeps trailing zeros, but 1.0 and 1.00 are one key.
  select array_agg(rowrelay.safe_json(p.value, a.atttypid) order by u.position),
         array_agg(rowrelay.safe_text(p.value, a.atttypid) order by u.position)
    into parts, texts
    from unnest(numbers) with ordinality as u(n, position)
    join pg_attribute a on a.attrelid = relation and a.attnum = u.n and not a.attisdropped
   cross join lateral format(case
                             when rowrelay.base_type(a.atttypid) = 'numeric'::regtype
                               then 'pg_catalog.trim_scale(%s)'
                                  else '%s' end, rowrelay.row_value(row_name, a.attname)) as p(value);
  return case coalesce(cardinality(parts), 0)
           when 0 then 'null'
           when 1 then texts[1]
           else format('pg_catalog.json_build_array(%s)::pg_catalog.text', array_to_string(parts, ', '))
         end;
end
$$;
