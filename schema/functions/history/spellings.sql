-- Purpose:    returns all spellings of keys in the log: texts of equal keys may differ, as "Ann" and "ann" do in citext
-- Parameters: captures of one table; keys as the log has them, or as a person writes them
-- Result:     these keys and all keys in the log that equal one of them
create or replace function rowrelay.spellings(captures integer[], keys text[]) returns text[]
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  of_capture integer;
  logged     text[];
  found      text[] := keys;
  hashes     bigint[];
begin
  for of_capture in select c.id from rowrelay.capture c where c.id = any (captures) and not c.key_is_exact loop
    logged := array(select distinct h.key from rowrelay.change h where h.capture = of_capture and h.key is not null);
    hashes := array(select r.hash
                    from rowrelay.row_hashes(array_fill(of_capture, array[cardinality(keys)]), keys) as r);
    found := found || array(
      select r.key
        from rowrelay.row_hashes(array_fill(of_capture, array[cardinality(logged)]), logged) as r
       where (r.hash = any (hashes) or 0 = any (hashes || r.hash))
         and exists (select from unnest(keys) as k where rowrelay.is_same_key(of_capture, k, r.key)));
  end loop;
  return array(select distinct f from unnest(found) as f);
end
$$;
