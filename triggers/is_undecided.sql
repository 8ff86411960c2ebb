-- Purpose:    whether a target may lack a row after it got a change of its key, because rows of a table and of its
--             inheritance children share the key, or shared it: what was refused of that key stays listed until the
--             target has what is in the table. A change says nothing of the other rows, and the last one of the key
--             that is in the log decides.
-- Parameters: capture; key as the log has it; the delivered change
-- Result:     false at once for a table without inheritance children
create or replace function rowrelay.is_undecided(capture_id integer, key text, change_id bigint) returns boolean
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off as $$
declare
  n          bigint;
  is_deleted boolean;
  spellings  text[];
begin
  if not exists (select from rowrelay.capture c where c.id = capture_id and rowrelay.has_children(c.relation)) then
    return false;
  end if;
  n := rowrelay.rows_with_key(capture_id, key);
  select h.op = 'd' into is_deleted from rowrelay.change h where h.id = change_id;
  if n is null or n > 1 or (n = 1) is not distinct from is_deleted then
    return true;
  end if;
  -- apart: as a condition it would be evaluated for each row, and in planning once for each partition
  spellings := rowrelay.spellings(array[capture_id], array[key]);
  return exists (select from rowrelay.change h
                  where h.id > change_id and h.capture = capture_id and h.op <> 'r' and h.key = any (spellings));
end
$$;
