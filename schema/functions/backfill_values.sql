-- Purpose:    a row of values as SQL, to be compared with columns
-- Parameters: relation; names of its columns; their values as text
-- Result:     such as ('7'::pg_catalog.int4, 'x'::pg_catalog.text)
create or replace function rowrelay.backfill_values(relation regclass, names text[], texts text[]) returns text
language sql stable as $$
  select format('(%s)', string_agg(format('%L::%s', u.value, rowrelay.unchecked_type(a.atttypid)), ', ' order by u.position))
    from unnest(names, texts) with ordinality as u(name, value, position)
    join pg_attribute a on a.attrelid = relation and a.attname = u.name and not a.attisdropped
$$;
