-- Purpose:    returns chosen rows of rowrelay.history, each found by its id in its partition. The planner gets the
--             partitions as a list, so that it leaves out all others, of which there may be years.
-- Parameters: ids; days: the partition of each
-- Result:     the rows, in no order
create or replace function rowrelay.history_at(ids bigint[], days date[]) returns setof rowrelay.history
language plpgsql stable set plan_cache_mode = force_custom_plan set enable_seqscan = off set jit = off as $$
declare
  all_days date[] := array(select distinct d from unnest(days) as d);
begin
  return query
    select h.*
      from unnest(ids, days) as f(id, day)
      cross join lateral (select v.* from rowrelay.history v
                           where v.change_id = f.id and v.day = f.day and v.day = any (all_days) offset 0) as h;
end
$$;
