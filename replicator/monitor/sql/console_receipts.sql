-- The latest 20 receipts of target $1 in figures, for the console. Receipts are found by target and time.
select coalesce(json_agg(r order by r.settled_at desc), '[]')
  from (select s.settled_at, s.outcome, s.actor, cardinality(s.change_ids) as changes, s.first_id::text as first,
               s.last_id::text as last, s.attempts, s.host, s.pid,
               extract(epoch from s.settled_at - s.claimed_at) as seconds
          from rowrelay.receipt s
         where s.target = (select t.id from rowrelay.target t where t.name = $1::text and t.dropped_at is null)
         order by s.settled_at desc limit 20) as r;
