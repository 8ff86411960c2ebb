-- Purpose:    returns the text of a document's key for the text of a value of another type: a column that leads to a
--             document may get another type than the document's keys have (date becomes timestamptz). Lanes are chosen
--             by these texts, and the document is found by them.
-- Parameters: text of the value; type of the document's keys
-- Result:     the text of the same value as a key; as it is if it cannot be a key
create or replace function rowrelay.as_document_key(value text, key_type oid) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp set datestyle = 'ISO, MDY' as $$
declare
  key text;
begin
  execute 'select ' || rowrelay.document_key_text('$1', key_type) into key using value;
  return key;
exception when others then
  return value;
end
$$;
