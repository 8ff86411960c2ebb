-- Purpose:    returns hashes by which keys of different spelling can be compared: keys that are equal by their types'
--             operators have equal hashes. Different keys may have the same.
-- Parameters: captures and keys, in pairs
-- Result:     the hash of each distinct pair. 0: unknown, because the table is gone, its key was altered, or the key
--             has parts of domain types, whose CHECKs must not run here. Such a row may be any row of the table.
create or replace function rowrelay.row_hashes(captures integer[], keys text[])
returns table (capture integer, key text, hash bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, MDY' set timezone = 'UTC' set intervalstyle = 'postgres' set bytea_output = 'hex'
set extra_float_digits = 1 set lc_monetary = 'C' set quote_all_identifiers = off as $$
declare
  captured rowrelay.capture;
  of_one   text[];
  hashes   bigint[];
begin
  for captured in select c.* from rowrelay.capture c where c.id = any (captures) loop
    of_one := array(select distinct w.key from unnest(captures, keys) as w(capture, key) where w.capture = captured.id);
    begin
      if rowrelay.has_domain_parts(captured.relation, captured.key_columns) then
        hashes := array(select 0 from unnest(of_one));
      else
        execute format('select array_agg(coalesce(nullif(%s, 0), 1)::bigint order by g.n) '
                       'from unnest($1) with ordinality as g(key, n) '
                       'cross join lateral (select wanted.* from %s) as wanted',
                       rowrelay.hash_expression(captured.id, captured.relation, captured.key_columns, 'wanted'),
                       rowrelay.parsed_keys(captured, 'array[g.key]'))
           into hashes using of_one;
      end if;
    exception when others then
      hashes := array(select 0 from unnest(of_one));
    end;
    return query select captured.id, o.key, coalesce(o.hash, 0) from unnest(of_one, hashes) as o(key, hash);
  end loop;
end
$$;
