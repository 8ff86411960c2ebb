-- Purpose:    returns SQL for the text of a document's key, as rowrelay.document_key() reads it from an image
-- Parameters: relation; attribute number; name of the row, new or old
-- Result:     an expression of type text; null when the column is gone
create or replace function rowrelay.document_key_expression(relation regclass, number smallint, row_name text)
  returns text
language sql stable as $$
  select case rowrelay.base_type(a.atttypid)
           when 'numeric'::regtype then format('pg_catalog.trim_scale(%s.%I)::pg_catalog.text', row_name, a.attname)
           else rowrelay.safe_text(format('%s.%I', row_name, a.attname), a.atttypid)
         end
    from pg_attribute a
   where a.attrelid = relation and a.attnum = number and not a.attisdropped
$$;
