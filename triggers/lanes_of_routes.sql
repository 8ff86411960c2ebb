-- Purpose:    returns where the changes of a capture are queued, as parameters lane, hash and more_lanes of
--             rowrelay.log_row(): most tables go to one target, whose lane the caller computes
-- Parameters: capture id; expression for the hash that chooses the lane; whether it may be null: a barrier, which has a
--             lane of its own unless there is only one
-- Result:     three expressions
create or replace function rowrelay.lanes_of_routes(capture_id integer, hash text, may_be_null boolean) returns text
language sql stable as $$
  with found as (
    select t.id, t.lanes, rowrelay.lane_number(t.id, 0) + rowrelay.waiting_room(r.capture, r.target) as first,
           row_number() over (order by t.id) as place
      from rowrelay.route r join rowrelay.target t on t.id = r.target
     where r.capture = capture_id and r.until_id is null and t.dropped_at is null
  ), lane as (
    select f.first, case when f.lanes = 1 then f.first::text
                         -- the same for a power of two, by one function less
                         when f.lanes & (f.lanes - 1) = 0
                           then format('pg_catalog.int4pl(%s, pg_catalog.int4and(%s, %s))', f.first, hash, f.lanes - 1)
                         else format('pg_catalog.int4pl(%s, pg_catalog.mod(pg_catalog.int4and(%s, 2147483647), %s))',
                                     f.first, hash, f.lanes) end as expression, f.lanes
      from found f where f.place = 1
  )
  select concat_ws(', ',
    coalesce((select case when may_be_null and l.lanes > 1 then format('coalesce(%s, %s)', l.expression, l.first - 1)
                          else l.expression end
                from lane l), 'null'),
    coalesce((select format('%s, %L', hash, '{' || string_agg(format('%s,%s', f.first, f.lanes), ',' order by f.id)
                                              || '}')
                from found f where f.place > 1 having count(*) > 0), 'null, null'))
$$;
