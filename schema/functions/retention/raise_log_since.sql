-- Purpose:    remembers that changes of a day are gone: of these tables, the log holds everything since that day was closed,
--             because everybody who had written into it had ended then
-- Parameters: the day; captures, null: all of which it may have changes
create or replace function rowrelay.raise_log_since(day rowrelay.day, captures integer[]) returns void
language sql as $$
  update rowrelay.capture c set log_since = day.closed_at
   where c.id = any (coalesce(captures, array(select k.id from rowrelay.capture k))) and c.log_since < day.closed_at
$$;
