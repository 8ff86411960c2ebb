-- Purpose:    raises an error in the guarded part of a trigger function, so that the slow path captures the change
-- Result:     none
-- Errors:     always
create or replace function rowrelay.raise_altered() returns integer
language plpgsql as $$
begin
  raise exception 'the table was altered';
end
$$;
