-- Purpose:    SQL for the text of a document's key, as rowrelay.document_key() reads it from a row image, whatever type the
--             expression has and whatever the session's settings are
-- Parameters: expression; type of the document's keys
-- Result:     an expression of type text
create or replace function rowrelay.document_key_text(expression text, key_type oid) returns text
language sql stable as $$
  select format(case key_type
                  when 'numeric'::regtype then 'pg_catalog.trim_scale((%s)::%s)::pg_catalog.text'
                  -- always ISO
                  when 'date'::regtype then 'pg_catalog.to_json((%s)::%s) operator(pg_catalog.#>>) ''{}'''
                  else '(%s)::%s::pg_catalog.text'
                end, expression, rowrelay.document_key_type(key_type))
$$;
