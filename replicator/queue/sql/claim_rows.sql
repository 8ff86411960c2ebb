-- Removes the oldest queued rows of the lanes that claim_lanes.sql has just locked, but for that of barriers; they are
-- gone when the transaction commits. Reads their changes, too, as far as they are in partitions whose days stand in the
-- statement: the program puts those of its last claim there (see replicator/queue/day_query.h), because a plan for days
-- that are not known before would have to look into every partition, of which there may be years. OFFSET 0 makes it
-- look up each id: it takes a new partition without statistics (every morning's) for small, and would otherwise read
-- all of it again and again.
-- It begins when the locks are held: only a snapshot taken after that shows what others did with these lanes before.
-- Nothing behind a barrier is taken: a barrier that another worker is delivering is visible here until it is settled.
--   $1 target  $2 its lanes  $3 for each lane: the id up to which it was seen empty
--   $4 maximum number of rows  $5 maximum number of bytes; one larger row comes alone
--   $6 version of the target for which those ids hold  $7 horizon: no transaction can still commit smaller ids
--   $8 number of its lanes that are not late  $9 maximum number of bytes from lanes that are
--   $10 whether to read when, by whom and in which transaction too, which only some targets need
--   $11 whether to read their age, in microseconds
-- Gives taken: change_id, lane, day, bytes, id, capture, operation, key, old_row, new_row, text_columns, problem,
--   captured_at, txid, actor, traceparent, path, age, expansion
with floors as materialized (
  select l.lane, l.floor from unnest($2::integer[], $3::bigint[]) as l(lane, floor)
), locked as materialized (
  select l.lane, greatest(f.floor, least($7::bigint, l.first_id - 1)) as floor, count(*) over () as lanes,
         bool_or(rowrelay.lane_position(l.lane) >= $8::integer) over () as are_late
    from unnest(nullif(current_setting('rowrelay.locked_lanes', true), '')::integer[],
                nullif(current_setting('rowrelay.first_ids', true), '')::bigint[]) as l(lane, first_id)
    join floors f on f.lane = l.lane
   where rowrelay.lane_position(l.lane) <> -1
), barrier as materialized (
  select coalesce(min(b.change_id), 9223372036854775807) as id
    from rowrelay.queue b
   where b.lane = rowrelay.lane_number($1::integer, -1)
     and b.change_id > (select f.floor from floors f where f.lane = rowrelay.lane_number($1::integer, -1))
), candidate as materialized (
  select c.*, l.are_late
    from rowrelay.target t
    cross join barrier
    cross join locked l
    cross join lateral (
      select q.ctid as tuple, q.change_id, q.bytes
        from rowrelay.queue q
       where q.lane = l.lane and q.change_id > l.floor and q.change_id < barrier.id
       order by q.change_id limit greatest(1, $4::integer / l.lanes)) as c
   where t.id = $1::integer and t.version = $6::integer and t.state = 'running' and t.dropped_at is null
), measured as (
  select c.tuple, c.are_late, sum(c.bytes) over in_order as bytes, row_number() over in_order as n
    from candidate c
  window in_order as (order by c.change_id rows unbounded preceding)
), claimed as (
  delete from rowrelay.queue q
   where q.ctid = any (array(select m.tuple from measured m
                              where m.n = 1
                                 or m.bytes <= case when m.are_late then least($5::bigint, $9::bigint)
                                                    else $5::bigint end))
  returning q.change_id, q.lane, q.day, q.bytes
)
select c.change_id, c.lane, c.day, c.bytes, h.id, h.capture, h.op as operation, h.key, h.old_row, h.new_row,
       h.caveat -> 'text_columns' as text_columns, h.caveat ->> 'problem' as problem,
       case when $10::boolean then to_json(h.captured_at) #>> '{}' end as captured_at,
       case when $10::boolean then h.txid end as txid,
       case when $10::boolean then coalesce(h.actor, h.db_user) end as actor,
       h.caveat ->> 'traceparent' as traceparent, h.caveat ->> 'path' as path,
       case when $11::boolean then rowrelay.change_age(h.txid, h.captured_at) end as age,
       null as expansion
  from (select * from claimed order by change_id offset 0) as c -- sorted before the images are there
  left join lateral (
    select l.*
      from rowrelay.change l
     where l.id = c.change_id and l.day = c.day and l.day = any ('{2000-01-01}'::date[])
    offset 0) as h on true
 order by c.change_id;
