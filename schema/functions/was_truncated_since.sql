-- Purpose:    whether a partition of a refused change's table was truncated after that change, and a target that keeps the
--             state of rows has executed this: delivered now, the change could bring a row back that is gone
-- Parameters: target; capture; id of the change
-- Result:     false also where the truncate waits for the target still, or was refused: then the order holds
create or replace function rowrelay.was_truncated_since(target integer, capture integer, change_id bigint) returns boolean
language sql stable as $$
  select exists (
    select from rowrelay.truncation u
      join rowrelay.target t on t.id = was_truncated_since.target
     where u.capture = was_truncated_since.capture and u.change_id > was_truncated_since.change_id
       and u.condition is not null and rowrelay.keeps_state(t)
       and not exists (select from rowrelay.queue q
                        where q.lane = rowrelay.lane_number(t.id, -1) and q.change_id = u.change_id)
       and not exists (select from rowrelay.refusal r where r.target = t.id and r.change_id = u.change_id))
$$;
