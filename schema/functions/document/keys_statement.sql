-- Purpose:    returns the statement that finds a document's keys for changed rows of one of its tables
-- Parameters: relation; a query of the user's, in which "changed" stands for these rows; type of the keys; an
--             expression of type json for these rows: an array of their images
-- Result:     a query with one column, the keys as text
create or replace function rowrelay.keys_statement(relation regclass, keys_query text, key_type oid, images text)
  returns text
language sql stable as $$
  select format(E'select distinct %s from (%s\n) as q(k) where k is not null',
                rowrelay.document_key_text('k', key_type),
                case when keys_query ~* E'^with\\s+recursive\\M'
                       then 'with recursive ' || c.changed || ', ' || regexp_replace(keys_query,
                           E'^with\\s+recursive\\M', '', 'i')
                     when keys_query ~* E'^with\\M'
                       then 'with ' || c.changed || ', ' || regexp_replace(keys_query, E'^with\\M', '', 'i')
                     else 'with ' || c.changed || ' ' || keys_query end)
    from (select format('changed as (select * from pg_catalog.json_to_recordset(%s) as changed (%s))', images,
                        string_agg(format('%I %s', a.attname, rowrelay.unchecked_type(a.atttypid)), ', '
                                   order by a.attnum)) as changed
            from pg_attribute a where a.attrelid = relation and a.attnum > 0 and not a.attisdropped) as c
$$;
