-- Reads the tables that the target cannot take at present, as "capture:released_to ...". It runs after the lanes are
-- locked, so that it sees what was held in them, and before their rows are read, so that no row is seen without what
-- was released before it.
--   $1 target
-- Gives held: claimed_at, holds
select clock_timestamp() as claimed_at,
       coalesce((select string_agg(format('%s:%s', h.capture, h.released_to), ' ') from rowrelay.hold h
                  where h.target = $1::integer), '') as holds;
