-- Purpose:    returns a row's values in some columns, to find rows that refer to each other
-- Parameters: values, see rowrelay.row_texts(); columns
-- Result:     texts in the order of the columns; null when one of them is null
create or replace function rowrelay.values_of(texts jsonb, names text[]) returns text[]
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select case when bool_and(texts ->> n.name is not null) then array_agg(texts ->> n.name order by n.position) end
    from unnest(names) with ordinality as n(name, position)
$$;
