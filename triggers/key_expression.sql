-- Purpose:    SQL for the text of a key: of one column its text, of several a JSON array
-- Parameters: relation; attribute numbers; name of the row, new or old
-- Result:     an expression; 'null' when there is no key
create or replace function rowrelay.key_expression(relation regclass, numbers smallint[], row_name text) returns text
language plpgsql stable as $$
declare
  parts text[];
begin
  -- numeric keeps the zeros it was written with, and 1.0 = 1.00 is one key.
  select array_agg(case when rowrelay.base_type(a.atttypid) = 'numeric'::regtype
                        then format('pg_catalog.trim_scale(%s.%I)', row_name, a.attname)
                        else format('%s.%I', row_name, a.attname) end order by u.position)
    into parts
    from unnest(numbers) with ordinality as u(n, position)
    join pg_attribute a on a.attrelid = relation and a.attnum = u.n and not a.attisdropped;
  return case coalesce(cardinality(parts), 0)
           when 0 then 'null'
           when 1 then parts[1] || '::pg_catalog.text'
           else format('pg_catalog.json_build_array(%s)::pg_catalog.text', array_to_string(parts, ', '))
         end;
end
$$;
