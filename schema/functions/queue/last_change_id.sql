-- Purpose:    returns the last change id that was assigned, whether its transaction has ended or not
-- Result:     0 before the first
create or replace function rowrelay.last_change_id() returns bigint
language sql volatile as $$
  select case when s.is_called then s.last_value else 0 end from rowrelay.change_id s
$$;
