-- Purpose:    the captures whose changes tell rows apart as those of one capture do: the same table, captured again after it
--             was released, by the same key
-- Parameters: capture
-- Result:     their ids, itself among them
create or replace function rowrelay.captures_alike(capture integer) returns integer[]
language sql stable as $$
  select array_agg(a.id)
    from rowrelay.capture c
    join rowrelay.capture a on a.id = c.id or c.relation <> 0 and a.relation = c.relation and a.key_columns = c.key_columns
   where c.id = captures_alike.capture
$$;
