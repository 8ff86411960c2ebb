-- Purpose:    lists changes of some keys that no tick has indexed yet
-- Parameters: capture ids; keys; after_id: only changes with larger ids; from_day: only in this partition or a later
--             one, null: in any
-- Result:     changes and their partitions, in no order
create or replace function rowrelay.candidates_since(captures integer[], keys text[], after_id bigint, from_day date)
returns table (change_id bigint, day date)
language plpgsql stable set plan_cache_mode = force_custom_plan set enable_seqscan = off set jit = off as $$
begin
  return query
    select c.id, c.day
      from rowrelay.readable_change c
     where c.id > after_id and c.day >= coalesce(from_day, '-infinity')
       and c.capture = any (captures) and c.key = any (candidates_since.keys);
end
$$;
