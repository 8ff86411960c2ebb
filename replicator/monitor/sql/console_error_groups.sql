-- Refused changes by target, table, state and kind of message, for the console: the 100 largest groups, how many
-- changes and groups there are in all, and how many changes are of tables that may not be read. It counts up to a
-- million, and reads what rowrelay.errors does without the log.
--   $1 target; null: all  $2 table; null: all  $3 part of the message; null: any
with refused as materialized (
  select f.target, f.capture, f.state,
         case when f.state = 'waiting' then coalesce(w.message, f.message) else f.message end as message,
         case when f.state = 'waiting' then coalesce(w.message, f.message)
              else coalesce(f.kind, f.message) end as kind,
         f.refused_at, f.capture = any ((select rowrelay.readable_captures())::integer[]) as is_readable
    from rowrelay.refusal f
    left join rowrelay.hold w on f.state = 'waiting' and w.target = f.target and w.capture = f.capture
   where ($1::text is null
          or f.target = (select t.id from rowrelay.target t where t.name = $1 and t.dropped_at is null))
     and ($2::text is null
          or f.capture = any (array(select c.id from rowrelay.capture c
                                     where c.relation::text = $2 or c.relation = to_regclass($2)
                                        or to_regclass($2) is null and c.relation_name = $2)))
   limit 1000000
), found as materialized (
  select t.name as target, c.relation::text as "table", r.state, r.kind, count(*) as count,
         -- in the target's own words where all are the same
         case when min(r.message) = max(r.message) then min(r.message) else r.kind end as message,
         min(r.refused_at) as first_at, max(r.refused_at) as last_at
    from refused r
    join rowrelay.target t on t.id = r.target and t.dropped_at is null
    join rowrelay.capture c on c.id = r.capture
   where r.is_readable and ($3::text is null or strpos(lower(r.message), lower($3)) > 0)
   group by t.name, c.relation, r.state, r.kind
)
select json_build_object(
  'at', clock_timestamp(),
  'count', (select coalesce(sum(g.count), 0)::text from found g),
  'discardable', (select coalesce(sum(g.count), 0)::text from found g where g.state <> 'blocked'),
  'unreadable', (select count(*)::text from refused r where not r.is_readable),
  'group_count', (select count(*) from found),
  'groups', (select coalesce(json_agg(g order by g.count desc, g.target, g.table, g.kind), '[]')
               from (select * from found g order by g.count desc, g.target, g.table, g.kind limit 100) g));
