-- Purpose:    the statement that finds a document's keys for changed rows of one of its tables
-- Parameters: relation; a query of the user's, in which "changed" stands for these rows; type of the keys
-- Result:     a query with one column, the keys as text; $1 is a JSON array of row images
create or replace function rowrelay.keys_statement(relation regclass, keys_query text, key_type oid) returns text
language sql stable as $$
  select format(E'select distinct %s from (%s\n) as q(k) where k is not null', rowrelay.document_key_text('k', key_type),
                case when keys_query ~* '^with\s+recursive\M'
                       then 'with recursive ' || c.changed || ', ' || regexp_replace(keys_query, '^with\s+recursive\M', '', 'i')
                     when keys_query ~* '^with\M'
                       then 'with ' || c.changed || ', ' || regexp_replace(keys_query, '^with\M', '', 'i')
                     else 'with ' || c.changed || ' ' || keys_query end)
    from (select format('changed as (select (pg_catalog.json_populate_record(null::%s, image)).* '
                        'from pg_catalog.json_array_elements($1::pg_catalog.json) as image)',
                        rowrelay.full_name(relation)) as changed) as c
$$;
