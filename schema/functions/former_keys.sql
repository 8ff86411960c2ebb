-- Purpose:    the keys that a row had before the one that it has: an update of a key is in the log as the old key deleted and
--             then the new one inserted. A transaction that deletes one row and inserts another next looks the same.
-- Parameters: captures of its table; key
-- Result:     the key and those before it
create or replace function rowrelay.former_keys(captures integer[], key text) returns text[]
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  keys text[] := array[key];
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
    keys := keys || more;
  end loop;
  return keys;
end
$$;
