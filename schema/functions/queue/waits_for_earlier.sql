-- Purpose:    whether held changes of a table wait for those of an earlier capture of it, which go first whatever time
--             they are due at
-- Parameters: what is held
create or replace function rowrelay.waits_for_earlier(held rowrelay.hold) returns boolean
language sql stable as $$
  select exists (
    select from rowrelay.capture c
      join rowrelay.capture a on a.relation = c.relation and a.id < c.id
      join rowrelay.refusal f on f.target = held.target and f.capture = a.id and f.state = 'waiting'
     where c.id = held.capture and c.relation <> 0)
$$;
