-- Purpose:    writes a source of a document as rowrelay.document_source_parts() reads it
-- Parameters: relation; name to write for it; name of the column with the document's key, or the query that returns
--             keys; numbers of the columns that the document uses, null: all
-- Result:     TABLE:COLUMN, TABLE:COLUMN(columns...), TABLE:QUERY or TABLE(columns...):QUERY
create or replace function rowrelay.document_source_text(relation regclass, relation_name text, key_name text,
                                                         keys_query text, only_columns smallint[]) returns text
language plpgsql stable as $$
declare
  columns text := (select '(' || string_agg(quote_ident(u.name), ', ' order by u.n) || ')'
                     from unnest(rowrelay.attribute_names(relation, only_columns)) with ordinality as u(name, n));
begin
  return concat(relation_name, case when keys_query is not null then columns end,
                ':', coalesce(keys_query, quote_ident(key_name)), case when keys_query is null then columns end);
end
$$;
