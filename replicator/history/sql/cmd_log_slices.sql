-- The log in slices of ids, the newest first: greater than low, up to high, and the days that may hold them. Nearly
-- every slice is in one day, or in two, because a transaction that continues past midnight writes to the day on which
-- it began.
--   $1 since  $2 until; null: any. Days without changes of that time are left out, give or take a day because clocks
--      are
--      set.
-- Gives slice: high, low, days
with bound as (
  select b.day, b.first_id, b.last_id
    from rowrelay.day_bounds() b
   where ($1::timestamptz is null or b.last_at >= $1::timestamptz - interval '1 day')
     and ($2::timestamptz is null or b.first_at <= $2::timestamptz + interval '1 day')
)
select b.last_id as high, coalesce(lead(b.last_id) over newest_first, 0) as low,
       array(select o.day from bound o where o.first_id <= b.last_id and o.last_id >= b.last_id) as days
  from bound b
window newest_first as (order by b.last_id desc)
 order by b.last_id desc;
