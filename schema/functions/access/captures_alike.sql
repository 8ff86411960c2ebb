-- Purpose:    returns the captures whose changes identify rows as those of one capture do: of the same table by the
--             same key, before it was released and captured again
-- Parameters: capture
-- Result:     their ids, with its own
create or replace function rowrelay.captures_alike(capture integer) returns integer[]
language sql stable as $$
  select array_agg(a.id)
    from rowrelay.capture c
    join rowrelay.capture a on a.id = c.id or c.relation <> 0 and a.relation = c.relation
      and a.key_columns = c.key_columns
   where c.id = captures_alike.capture
$$;
