-- Purpose:    returns SQL for the text of a document's key, as rowrelay.document_key() reads it from a row image, for
--             an expression of any type and under any session settings
-- Parameters: expression; type of the document's keys
-- Result:     an expression of type text
create or replace function rowrelay.document_key_text(expression text, key_type oid) returns text
language sql stable as $$
  select format(case key_type
                  when 'numeric'::regtype then 'pg_catalog.trim_scale(%s)::pg_catalog.text'
                  -- always ISO
                  when 'date'::regtype then 'pg_catalog.to_json(%s) operator(pg_catalog.#>>) ''{}'''
                  else '(%s)::pg_catalog.text'
                end,
                -- the cast of a user-defined type may run a user's code: see rowrelay.is_safe_type()
                format('case when pg_catalog.pg_typeof(%1$s)::pg_catalog.oid operator(pg_catalog.<) 16384 then '
                       '(%1$s)::%2$s '
                       'when %1$s is distinct from null then pg_catalog.concat(%1$s)::%2$s end',
                       expression, rowrelay.document_key_type(key_type)))
$$;
