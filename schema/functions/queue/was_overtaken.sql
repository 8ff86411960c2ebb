-- Purpose:    whether a target that keeps the last state of rows has since received something newer than a refused
--             change that the order of the row's lane does not cover: a truncate of one of the table's partitions, or
--             changes made after the table was captured again or by another key. Delivered now, the change could
--             restore a deleted row.
-- Parameters: target; capture; id of the change
-- Result:     false also while such a truncate is queued for the target or was refused: then the order holds
create or replace function rowrelay.was_overtaken(target integer, capture integer, change_id bigint) returns boolean
language sql stable as $$
  select rowrelay.keeps_state(t)
         and (exists (
                select from rowrelay.truncation u
                 where u.capture = was_overtaken.capture and u.change_id > was_overtaken.change_id
                   and u.condition is not null
                   and not exists (select from rowrelay.queue q
                                    where q.lane = rowrelay.lane_number(t.id, -1) and q.change_id = u.change_id)
                   and not exists (select from rowrelay.refusal r where r.target = t.id and r.change_id = u.change_id))
              or exists (
                select from rowrelay.capture c
                  join rowrelay.capture a on a.id = c.id or c.relation <> 0 and a.relation = c.relation
                  join rowrelay.shape s on s.capture = a.id and s.begins and s.from_id >= was_overtaken.change_id
                 where c.id = was_overtaken.capture))
    from rowrelay.target t
   where t.id = was_overtaken.target
$$;
