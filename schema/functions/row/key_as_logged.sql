-- Purpose:    turns a key that a person wrote into the log's spelling: 1.5 into 1.50, [1,"a"] into [1, "a"]
-- Parameters: relation; key: the text of a single column, a JSON array of several
-- Result:     the key; unchanged where it is not a key of the table as it is now
create or replace function rowrelay.key_as_logged(relation regclass, key text) returns text
language plpgsql stable as $$
begin
  return (select p.key from rowrelay.past_row(relation, key) as p);
exception when others then
  return key;
end
$$;
