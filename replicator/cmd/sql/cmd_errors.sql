-- Refused changes, for people, the oldest first: of target $1 (null: all), at most $2,
-- and of tables $3 (oids; null: all). A dropped table is shown with its oid: another one may have its name now.
select e.change_id, e.target,
       case when rowrelay.full_name(e.relation) is not null then e.relation::text
            when e.relation = 0 then e.relation_name -- a document
            else format('%s (dropped, %s)', e.relation_name, e.relation::oid) end as "table",
       e.op, e.key, e.state, e.attempts, e.sqlstate,
       e.message || coalesce('; ' || e.detail, '') as message
  from rowrelay.errors e
 where ($1::text is null or e.target = $1)
   and ($3::oid[] is null or e.relation = any ($3::oid[]))
 order by e.change_id, e.target
 limit $2::bigint;
