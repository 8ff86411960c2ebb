-- Purpose:    the text of a document's key, out of a row image; the generated triggers make the same text from the row
--             (rowrelay.document_key_expression)
-- Parameters: image; names that the column has or had; its base type
-- Result:     null when the image is null, or has null there, or no such column
create or replace function rowrelay.document_key(image json, name text, former_name text, of_type oid) returns text
language sql stable as $$
  select case of_type
           when 'numeric'::regtype then trim_scale((k.text)::numeric)::text
           when 'bpchar'::regtype then rtrim(k.text, ' ')
           else k.text
         end
    from (select coalesce(image -> name, image -> former_name) #>> '{}' as text) as k
$$;
