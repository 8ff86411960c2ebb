-- Refused changes, for programs, the oldest first: of target $1 (null: all), at most $2,
-- and of tables $3 (oids; null: all).
select coalesce(json_agg(t order by t.change_id, t.target), '[]')
  from (select e.*
          from rowrelay.errors e
         where ($1::text is null or e.target = $1)
           and ($3::oid[] is null or e.relation = any ($3::oid[]))
         order by e.change_id, e.target
         limit $2::bigint) t;
