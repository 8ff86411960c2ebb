-- Reads the changes of claimed rows: one line for each, in order of ids; h.id is null when the log no longer has it.
-- The days are passed a second time as a list, so that the planner leaves out all other partitions, of which there may
-- be years. OFFSET 0 makes it look up each id: it takes a new partition without statistics (every morning's) for small,
-- and would otherwise read all of it again and again.
--   $1 change ids, ascending  $2 their days  $3 the same days, each once
--   $4 whether to read when, by whom and in which transaction too, which only some targets need
--   $5 whether to read their age, in microseconds
-- Gives logged: id, capture, operation, key, old_row, new_row, text_columns, problem, captured_at, txid, actor,
--   traceparent, path, age, expansion
select h.id, h.capture, h.op as operation, h.key, h.old_row, h.new_row, h.caveat -> 'text_columns' as text_columns,
       h.caveat ->> 'problem' as problem,
       case when $4::boolean then to_json(h.captured_at) #>> '{}' end as captured_at,
       case when $4::boolean then h.txid end as txid,
       case when $4::boolean then coalesce(h.actor, h.db_user) end as actor,
       h.caveat ->> 'traceparent' as traceparent, h.caveat ->> 'path' as path,
       case when $5::boolean then rowrelay.change_age(h.txid, h.captured_at) end as age,
       null as expansion
  from unnest($1::bigint[], $2::date[]) as q(id, day)
  left join lateral (
    select c.* from rowrelay.change c where c.id = q.id and c.day = q.day and c.day = any ($3::date[])
    offset 0) as h on true
 order by q.id;
