-- Purpose:    hashes keys with the caller's rights. One that cannot be read as the types are now does not keep the
--             others from being hashed.
-- Parameters: statement (rowrelay.hash_statement), null for none; keys
-- Result:     the hashes, in the order of the keys; 0: unknown
create or replace function rowrelay.hash_keys(statement text, keys text[]) returns bigint[]
language plpgsql stable as $$
declare
  half   constant integer := cardinality(keys) / 2;
  hashes bigint[];
begin
  if statement is not null then
    execute statement into hashes using keys;
  end if;
  return coalesce(hashes, array_fill(0::bigint, array[cardinality(keys)]));
exception when others then
  return case when half = 0 then '{0}'
              else rowrelay.hash_keys(statement, keys[:half]) || rowrelay.hash_keys(statement, keys[half + 1:]) end;
end
$$;
