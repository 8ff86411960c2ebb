-- The changes of one row, and truncates of its table since the oldest of these, the newest first: id and day.
--   $1 the table, as an array of one  $2 the row's key
-- Gives found: change_id, day, mark
with own as materialized (
  select c.change_id, c.day from rowrelay.changes_of_key(($1::oid[])[1]::regclass, $2) c
)
select a.change_id, a.day, null::bigint as mark
  from (table own
        union all
        select t.change_id, t.day
          from rowrelay.truncates_of(($1::oid[])[1]::regclass) t
         where t.change_id > (select min(o.change_id) from own o)) a
 order by a.change_id desc;
