-- Purpose:    returns a value of a row image as the text that it has in a mirror (rowrelay.value_text)
-- Parameters: as for rowrelay.value_text()
-- Result:     the text; for a value that cannot have been delivered, because it is not valid for the mirror's type, one
--             that no value has
create or replace function rowrelay.delivered_text(value json, types json, of_type text, is_text boolean default false)
  returns text
language plpgsql stable as $$
begin
  return rowrelay.value_text(value, types, of_type, is_text);
exception when others then
  return gen_random_uuid();
end
$$;
