-- The changes of one transaction, the newest first: id and day.
--   $1 its id
-- Gives found: change_id, day, mark
select c.change_id, c.day, null::bigint as mark
  from rowrelay.changes_of_transaction($1::xid8) c
 order by c.change_id desc;
