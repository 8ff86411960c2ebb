-- Purpose:    whether held changes of a table wait for those of an earlier capture of it, or of what had its place:
--             these go first, whatever time they are due at
-- Parameters: what is held
create or replace function rowrelay.waits_for_earlier(held rowrelay.hold) returns boolean
language sql stable as $$
  select exists (
    select from unnest(rowrelay.captures_of_place(held.capture, held.target)) as a(id)
      join rowrelay.refusal f on f.target = held.target and f.capture = a.id and f.state = 'waiting'
     where a.id < held.capture)
$$;
