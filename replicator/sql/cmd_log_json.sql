-- The newest changes of table $1, for programs, the oldest of them first: $2 of one key, $3 since a time (null: all),
-- $4 at most.
select coalesce(json_agg(t order by t.change_id), '[]')
  from (select h.*
          from rowrelay.history h
         where h.relation = $1::regclass
           and ($2::text is null or h.key = $2)
           and ($3::timestamptz is null or h.captured_at >= $3)
         order by h.change_id desc
         limit $4::bigint) t;
