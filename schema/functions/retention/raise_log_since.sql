-- Purpose:    records that changes of a day are gone: the log of these tables is complete only since that day was
--             closed, when all transactions that had written into it had ended
-- Parameters: the day; captures, null: all
create or replace function rowrelay.raise_log_since(day rowrelay.day, captures integer[]) returns void
language sql as $$
  -- it may have been closed while the clock was ahead
  update rowrelay.capture c set log_since = least(day.closed_at, clock_timestamp())
   where c.id = any (coalesce(captures, array(select k.id from rowrelay.capture k)))
     and c.log_since < least(day.closed_at, clock_timestamp())
$$;
