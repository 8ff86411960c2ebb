-- Purpose:    returns the text of a document's key from a row image; the generated triggers compute the same text from
--             the row (rowrelay.document_key_expression)
-- Parameters: image; present and former name of the column; its base type; type of the document's keys
-- Result:     null when the image is null, or the column is null or missing in it
create or replace function rowrelay.document_key(image json, name text, former_name text, of_type oid, key_type oid)
  returns text
language sql stable as $$
  select case when not rowrelay.is_key_type(of_type, key_type) then rowrelay.as_document_key(k.text, key_type)
           else case of_type
                  when 'numeric'::regtype then trim_scale((k.text)::numeric)::text
                  when 'bpchar'::regtype then rtrim(k.text, ' ')
                  else k.text
                end
         end
    from (select coalesce(image -> name, image -> former_name) #>> '{}' as text) as k
$$;
