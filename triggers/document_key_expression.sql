-- Purpose:    returns SQL for the text of a document's key, as rowrelay.document_key() reads it from an image
-- Parameters: relation; attribute number; name of the row, new or old; type of the document's keys
-- Result:     an expression of type text; null when the column is gone
create or replace function rowrelay.document_key_expression(relation regclass, number smallint, row_name text,
                                                            key_type oid) returns text
language sql stable as $$
  select case
           when not rowrelay.is_key_type(rowrelay.base_type(a.atttypid), key_type)
             then format('rowrelay.as_document_key(%s, %s)',
                         case when rowrelay.base_type(a.atttypid) < 16384
                              then format('pg_catalog.to_json(%s.%I) operator(pg_catalog.#>>) ''{}''', row_name,
                                          a.attname)
                              else rowrelay.safe_text(format('%s.%I', row_name, a.attname), a.atttypid) end,
                         key_type)
           when rowrelay.base_type(a.atttypid) = 'numeric'::regtype
             then format('pg_catalog.trim_scale(%s.%I)::pg_catalog.text', row_name, a.attname)
           else rowrelay.safe_text(format('%s.%I', row_name, a.attname), a.atttypid)
         end
    from pg_attribute a
   where a.attrelid = relation and a.attnum = number and not a.attisdropped
$$;
