-- Purpose:    the statement that finds a document's keys for changed rows of one of its tables
-- Parameters: relation; a query of the user's, in which "changed" stands for these rows; type of the keys
-- Result:     a query with one column, the keys as text; $1 is a JSON array of row images
create or replace function rowrelay.keys_statement(relation regclass, keys_query text, key_type oid) returns text
language sql stable as $$
  select format('select distinct %s from (%s) as q(k) where k is not null',
                case key_type when 'numeric'::regtype then 'pg_catalog.trim_scale(k::pg_catalog.numeric)::pg_catalog.text'
                              else 'k::pg_catalog.text' end,
                case when keys_query ~* '^\s*with\s+recursive\M'
                       then regexp_replace(keys_query, '^\s*with\s+recursive\M', 'with recursive ' || c.changed || ',', 'i')
                     when keys_query ~* '^\s*with\M'
                       then regexp_replace(keys_query, '^\s*with\M', 'with ' || c.changed || ',', 'i')
                     else 'with ' || c.changed || ' ' || keys_query end)
    from (select format('changed as (select (pg_catalog.json_populate_record(null::%s, image)).* '
                        'from pg_catalog.json_array_elements($1::pg_catalog.json) as image)',
                        rowrelay.full_name(relation)) as changed) as c
$$;
