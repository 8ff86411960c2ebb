-- Purpose:    captures a change of a row that cannot be passed to a function, because as one value it would have more
--             than the gigabyte that PostgreSQL allows; only its key is known. A deletion needs no more; any other
--             change is recorded as a problem. Lanes are not computed for it: it is a barrier.
-- Parameters: capture; TG_OP; keys before and after; columns of the key before; the error that led here
-- Result:     null, which a trigger function can return
create or replace function rowrelay.record_key(capture_id integer, operation text, old_key text, new_key text,
                                               key_row json, problem text) returns text
language plpgsql set search_path = pg_catalog, pg_temp set jit = off as $$
declare
  is_same constant boolean := operation = 'UPDATE' and old_key is not distinct from new_key;
begin
  if operation <> 'INSERT' and not is_same then
    perform rowrelay.add_change(capture_id, 'd', old_key, null, key_row, null,
                                case when old_key is null then problem end);
  end if;
  if operation <> 'DELETE' then
    perform rowrelay.add_change(capture_id, case when is_same then 'u' else 'i' end::"char", new_key, null, null, null,
                                problem);
  end if;
  return null;
end
$$;
