-- Purpose:    returns hashes by which keys of different spelling can be compared: keys that are equal by their types'
--             operators have equal hashes. Different keys may have the same.
-- Parameters: captures and keys, in pairs
-- Result:     the hash of each distinct pair. 0: unknown, see rowrelay.hash_statement(), or because the key cannot be
--             read any more. Such a row may be any row of the table.
create or replace function rowrelay.row_hashes(captures integer[], keys text[])
returns table (capture integer, key text, hash bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, MDY' set timezone = 'UTC' set intervalstyle = 'postgres'
set array_nulls = on set bytea_output = 'hex'
set extra_float_digits = 1 set lc_monetary = 'C' set quote_all_identifiers = off as $$
declare
  captured  rowrelay.capture;
  statement text;
  of_one    text[];
  hashes    bigint[];
begin
  for captured in select c.* from rowrelay.capture c where c.id = any (captures) loop
    of_one := array(select distinct w.key from unnest(captures, keys) as w(capture, key) where w.capture = captured.id);
    begin
      statement := rowrelay.hash_statement(captured);
    exception when others then
      statement := null;
    end;
    hashes := rowrelay.hash_keys(statement, of_one); -- the planner would call it once more
    return query select captured.id, o.key, coalesce(o.hash, 0) from unnest(of_one, hashes) as o(key, hash);
  end loop;
end
$$;
