-- Purpose:    returns the tables whose changes of a day have been kept for long enough, by the table's setting, else by
--             that of the whole log
-- Parameters: when the day ended; how long to keep tables without a setting of their own (null: the setting of the log)
-- Result:     captures
create or replace function rowrelay.prune_captures(ends_at timestamptz, older_than interval) returns integer[]
language sql stable as $$
  select coalesce(array_agg(c.id order by c.id), '{}')
    from rowrelay.capture c, rowrelay.source s
   where prune_captures.ends_at + coalesce(c.keep, older_than, s.keep) <= clock_timestamp()
$$;
