-- Purpose:    up to which change of a table a target that keeps the last state of rows has since received something
--             newer that the order of the rows' lanes does not cover: a truncate of one of the table's partitions, or
--             changes made after the table's log began anew, or after it was routed there no longer, of what came to
--             its place then. Delivered now, an older change could restore a deleted row.
-- Parameters: target; capture; of_truncates: for refused truncates, behind which later changes of their table wait, so
--             that only those of other tables can have passed
-- Result:     a change id; 0: there is nothing of the kind. A partition's truncate does not count while it is queued
--             for the target or was refused: then the order holds
create or replace function rowrelay.overtaken_up_to(target integer, capture integer, of_truncates boolean)
returns bigint language sql stable as $$
  select coalesce(greatest(
           (select max(u.change_id) - 1 from rowrelay.truncation u
             where u.capture = overtaken_up_to.capture and u.condition is not null and not of_truncates
               and not exists (select from rowrelay.queue q
                                where q.lane = rowrelay.lane_number(t.id, -1) and q.change_id = u.change_id)
               and not exists (select from rowrelay.refusal r where r.target = t.id and r.change_id = u.change_id)),
           (select max(s.from_id)
              from rowrelay.shape s
             where s.capture = any (rowrelay.captures_of_place(overtaken_up_to.capture, t.id)) and s.begins
               and not of_truncates),
           -- what a writer that began before has added to an ended route is older, too, whatever its id
           (select max(case when e.id = own.until_id then 9223372036854775807 else e.id end)
              from rowrelay.route own
              join rowrelay.capture c on c.id = own.capture
              join rowrelay.route r on r.target = own.target
              join rowrelay.capture d on d.id = r.capture
              cross join lateral unnest(own.former_ends || own.until_id) as e(id)
             where own.target = t.id and own.capture = overtaken_up_to.capture
               and (r.place = own.place or d.relation = c.relation and d.relation <> 0)
               and (r.until_id is null or r.until_id > e.id)
               and not (of_truncates and d.id = any (rowrelay.captures_alike(c.id))))), 0)
    from rowrelay.target t
   where t.id = overtaken_up_to.target and rowrelay.keeps_state(t)
  union all
  select 0
   limit 1
$$;
