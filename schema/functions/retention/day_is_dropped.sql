-- Purpose:    whether retention has dropped a day's changes by now: a truncated partition is empty even for statements
--             that began before
-- Parameters: day
create or replace function rowrelay.day_is_dropped(day date) returns boolean
language plpgsql volatile as $$
begin
  return exists (select from rowrelay.day d
                  where d.day = day_is_dropped.day and d.dropped_at is not null and d.restored_at is null);
end
$$;
