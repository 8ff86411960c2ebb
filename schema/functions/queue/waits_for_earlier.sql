-- Purpose:    whether held changes of a table wait for those of what had its place before (rowrelay.barred_by_holds):
--             these go first, whatever time they are due at
-- Parameters: what is held
create or replace function rowrelay.waits_for_earlier(held rowrelay.hold) returns boolean
language sql stable as $$
  select exists (
    select from rowrelay.barred_by_holds(held.target) b
     where b.capture = held.capture
       and b.up_to < (select min(f.change_id) from rowrelay.refusal f
                       where f.target = held.target and f.capture = held.capture and f.state = 'waiting'))
$$;
