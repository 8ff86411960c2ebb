-- Purpose:    returns the present names of columns; captures store numbers, because a number survives a rename
-- Parameters: relation; attribute numbers
-- Result:     names in the order of the numbers, null for a column that has been dropped; null for null
create or replace function rowrelay.attribute_names(relation regclass, numbers smallint[]) returns text[]
language plpgsql stable strict as $$ -- rather than SQL, because its plan is kept
begin
  return (
    select array(select a.attname::text
                   from unnest(numbers) with ordinality as u(n, position)
                   left join pg_attribute a on a.attrelid = relation and a.attnum = u.n and not a.attisdropped
                  order by u.position));
end
$$;
