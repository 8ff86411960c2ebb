-- Purpose:    a key as a person writes it, spelled as the log has it: 1.50 for 1.5, [1,"a"] for [1, "a"]
-- Parameters: relation; key: the text of a single column, a JSON array of several
-- Result:     the key; as it was given where it is not one of the table as it is now
create or replace function rowrelay.key_as_logged(relation regclass, key text) returns text
language plpgsql stable as $$
begin
  return (select p.key from rowrelay.past_row(relation, key) as p);
exception when others then
  return key;
end
$$;
