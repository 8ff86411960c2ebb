-- The newest changes of table $1, for people, the oldest of them first: $2 of one key, $3 since a time (null: all),
-- $4 at most.
select t.change_id, date_trunc('milliseconds', t.captured_at) as captured_at, t.op, t.key, t.actor,
       (select string_agg(s.key || ': ' || s.value, ', ' order by s.key) from jsonb_each_text(t.status) s) as status,
       coalesce(t.new_row, t.old_row) as row
  from (select h.*
          from rowrelay.history h
         where h.relation = $1::regclass
           and ($2::text is null or h.key = $2)
           and ($3::timestamptz is null or h.captured_at >= $3)
         order by h.change_id desc
         limit $4::bigint) t
 order by t.change_id;
