-- Reads the tables that the target cannot take at present, as "capture:released_to ...", and those that have their
-- places there now, none of whose changes may pass what waits of them. It runs after the lanes are locked, so that it
-- sees what was held in them, and before their rows are read, so that no row is seen without what was released before
-- it.
--   $1 target
-- Gives held: claimed_at, holds
with held as (
  select h.capture, h.released_to from rowrelay.hold h where h.target = $1::integer
), barred as (
  select g.capture, g.released_to from held g
  union all
  select later.capture, g.released_to
    from held g
    join rowrelay.route own on own.capture = g.capture and own.target = $1::integer
    join rowrelay.route later on later.target = own.target and later.into_table = own.into_table
                             and later.capture > own.capture and later.until_id is null
   where later.capture = any (rowrelay.captures_of_place(own.capture, own.target))
)
select clock_timestamp() as claimed_at,
       coalesce((select string_agg(format('%s:%s', b.capture, b.released_to), ' ')
                   from (select s.capture, min(s.released_to) as released_to from barred s group by s.capture) as b),
                '') as holds;
