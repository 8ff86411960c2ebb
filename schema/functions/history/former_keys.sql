-- Purpose:    returns the keys that a row had before its present one: the log has an update of a key as a delete of the
--             old key and an insert of the new one. A transaction that deletes one row and then inserts another looks
--             the same.
-- Parameters: captures of its table; keys, in all spellings (rowrelay.spellings)
-- Result:     these keys and the former ones
create or replace function rowrelay.former_keys(captures integer[], of_row text[]) returns text[]
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  keys text[] := of_row;
  more text[] := keys;
begin
  while more <> '{}' loop
    more := array(
      select distinct before.key
        from rowrelay.change h
       cross join lateral (select b.op, b.key from rowrelay.change b
                            where b.txid = h.txid and b.capture = h.capture and b.day = h.day and b.id < h.id
                            order by b.id desc limit 1) as before
       where h.capture = any (captures) and h.key = any (more) and h.op = 'i'
         and before.op = 'd' and before.key <> all (keys));
    more := array(select s from unnest(rowrelay.spellings(captures, more)) as s where s <> all (keys));
    keys := keys || more;
  end loop;
  return keys;
end
$$;
