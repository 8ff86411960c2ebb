-- Purpose:    ends the guarded part of a trigger function, so that the change is captured the slow way
-- Result:     none
-- Errors:     always
create or replace function rowrelay.raise_altered() returns integer
language plpgsql as $$
begin
  raise exception 'the table was altered';
end
$$;
