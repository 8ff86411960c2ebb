-- Purpose:    of which tables changes have been kept for long enough on a day: each by what was said of it, else of the
--             whole log
-- Parameters: when the day has ended; how long to keep what is not said otherwise of a table (null: as the source says)
-- Result:     captures
create or replace function rowrelay.prune_captures(ends_at timestamptz, older_than interval) returns integer[]
language sql stable as $$
  select coalesce(array_agg(c.id order by c.id), '{}')
    from rowrelay.capture c, rowrelay.source s
   where prune_captures.ends_at + coalesce(c.keep, older_than, s.keep) <= clock_timestamp()
$$;
