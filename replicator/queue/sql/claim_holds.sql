-- Reads the tables that the target cannot take at present, as "capture:released_to ...", and those whose changes wait
-- for what is held of others (rowrelay.barred_by_holds). It runs after the lanes are locked, so that it sees what was
-- held in them, and before their rows are read, so that no row is seen without what was released before it.
--   $1 target
-- Gives held: claimed_at, holds
with held as (
  select h.capture, h.released_to from rowrelay.hold h where h.target = $1::integer
  union all
  select b.capture, b.up_to from rowrelay.barred_by_holds($1::integer) b
)
select clock_timestamp() as claimed_at,
       coalesce((select string_agg(format('%s:%s', h.capture, h.released_to), ' ')
                   from (select s.capture, min(s.released_to) as released_to from held s group by s.capture) as h),
                '') as holds;
