-- Purpose:    returns the statement that finds a document's keys for changed rows of one of its tables
-- Parameters: relation; a query of the user's, in which "changed" stands for these rows; type of the keys; an
--             expression of type json for these rows: an array of their images
-- Result:     a query with one column, the keys as text
create or replace function rowrelay.keys_statement(relation regclass, keys_query text, key_type oid, images text)
  returns text
language sql stable as $$
  select format(E'select distinct %s from (%s\n) as q(k) where k is not null',
                rowrelay.document_key_text('k', key_type),
                rowrelay.changed_statement(relation, keys_query, images))
$$;
