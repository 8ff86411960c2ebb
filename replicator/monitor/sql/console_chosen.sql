-- The next of the refused changes that a filter of the console finds, by target, and after which change to go on; null:
-- these are the last. Those refused after the list was read are not among them, nor, for a skip, those that cannot be
-- skipped.
--   $1 target; null: all  $2 table; null: all  $3 part of the message; null: any  $4 state; null: any
--   $5 kind of reason; null: any  $6 refused up to this time  $7 after this change; null: from the first
--   $8 retry or skip  $9 how many changes
-- Gives chosen: target, ids, next
with chosen as materialized (
  select f.target, f.change_id
    from rowrelay.refusal f
    join rowrelay.capture c on c.id = f.capture
    left join rowrelay.hold w on f.state = 'waiting' and w.target = f.target and w.capture = f.capture
    cross join lateral (
      select case when f.state = 'waiting' then coalesce(w.message, f.message) else f.message end as message,
             case when f.state = 'waiting' then coalesce(w.message, f.message)
                  else coalesce(f.kind, f.message) end as kind) m
   where ($1::text is null
          or f.target = (select t.id from rowrelay.target t where t.name = $1 and t.dropped_at is null))
     and f.capture = any ((select rowrelay.readable_captures())::integer[])
     and ($2::text is null or c.relation::text = $2 or c.relation = to_regclass($2)
          or to_regclass($2) is null and c.relation_name = $2) -- of one that is gone
     and ($3::text is null or strpos(lower(m.message), lower($3)) > 0)
     and ($4::text is null or f.state = $4)
     and ($5::text is null or m.kind = $5)
     and f.refused_at <= $6::timestamptz
     and ($7::bigint is null or f.change_id > $7)
     and ($8::text <> 'skip' or f.state <> 'blocked')
   order by f.change_id
   fetch first ($9::integer) rows with ties -- one change may have been refused by several targets
)
select t.name as target, array_agg(c.change_id order by c.change_id) as ids,
       case when (select count(*) from chosen) >= $9::integer then (select max(l.change_id) from chosen l) end as next
  from chosen c
  join rowrelay.target t on t.id = c.target and t.dropped_at is null
 group by t.id, t.name
 order by t.name;
