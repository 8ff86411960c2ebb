-- Reads the changes of claimed rows: one line for each, in order of ids; h.id is null when the log has lost it. The days
-- are given once more as a list, so that the planner leaves out all other partitions, of which there may be years. OFFSET
-- keeps it from reading a whole partition over and over instead of looking up each id: as long as a new partition has no
-- statistics, which is every morning, it takes it for small.
--   $1 change ids, ascending  $2 their days  $3 the same days, each once
--   $4 whether also what only some targets want is read: when, in which transaction, by whom
--   $5 whether their age is read, in microseconds
-- Gives logged: id, capture, operation, key, old_row, new_row, text_columns, problem, captured_at, txid, actor, age,
--   expansion
select h.id, h.capture, h.op as operation, h.key, h.old_row, h.new_row, h.caveat -> 'text_columns' as text_columns,
       h.caveat ->> 'problem' as problem,
       case when $4::boolean then to_json(h.captured_at) #>> '{}' end as captured_at,
       case when $4::boolean then h.txid end as txid,
       case when $4::boolean then coalesce(h.actor, h.db_user) end as actor,
       case when $5::boolean then rowrelay.change_age(h.txid, h.captured_at) end as age,
       null as expansion
  from unnest($1::bigint[], $2::date[]) as q(id, day)
  left join lateral (
    select c.* from rowrelay.change c where c.id = q.id and c.day = q.day and c.day = any ($3::date[])
    offset 0) as h on true
 order by q.id;
