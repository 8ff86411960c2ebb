-- One page of the changes that a target refused for the same kind of reason, the latest first, for the console.
--   $1 target  $2 table  $3 state  $4 kind  $5 only before this change; null: from the latest
select coalesce(json_agg(e order by e.id desc), '[]')
  from (select f.change_id as id, f.change_id::text as change, f.key, f.attempts, f.refused_at
          from rowrelay.refusal f
          join rowrelay.capture c on c.id = f.capture
          left join rowrelay.hold w on f.state = 'waiting' and w.target = f.target and w.capture = f.capture
         where f.target = (select t.id from rowrelay.target t where t.name = $1::text and t.dropped_at is null)
           and f.capture = any ((select rowrelay.readable_captures())::integer[])
           and (c.relation::text = $2::text or c.relation = to_regclass($2))
           and f.state = $3::text
           and case when f.state = 'waiting' then coalesce(w.message, f.message)
                else coalesce(f.kind, f.message) end = $4::text
           and ($5::bigint is null or f.change_id < $5)
         order by f.change_id desc limit 50) as e;
