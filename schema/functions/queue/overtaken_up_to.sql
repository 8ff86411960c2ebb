-- Purpose:    up to which change of a table a target that keeps the last state of rows has since received something
--             newer that the order of the rows' lanes does not cover: a truncate of one of the table's partitions, or
--             changes made after the table was captured again, by another key, or gave its place to another table.
--             Delivered now, an older change could restore a deleted row. Not so for a truncate: behind a refused one,
--             changes of its table wait.
-- Parameters: target; capture
-- Result:     a change id; 0: there is nothing of the kind. A partition's truncate does not count while it is queued
--             for the target or was refused: then the order holds
create or replace function rowrelay.overtaken_up_to(target integer, capture integer) returns bigint
language sql stable as $$
  select coalesce(greatest(
           (select max(u.change_id) - 1 from rowrelay.truncation u
             where u.capture = overtaken_up_to.capture and u.condition is not null
               and not exists (select from rowrelay.queue q
                                where q.lane = rowrelay.lane_number(t.id, -1) and q.change_id = u.change_id)
               and not exists (select from rowrelay.refusal r where r.target = t.id and r.change_id = u.change_id)),
           (select max(s.from_id)
              from rowrelay.shape s
             where s.capture = any (rowrelay.captures_of_place(overtaken_up_to.capture, t.id)) and s.begins)), 0)
    from rowrelay.target t
   where t.id = overtaken_up_to.target and rowrelay.keeps_state(t)
  union all
  select 0
   limit 1
$$;
