-- Purpose:    finds the last change of each of many keys among those that no tick has indexed yet, in one pass through
--             the log
-- Parameters: relations, keys, above_ids, below_ids: for each key its table, its text, and the ids between which the
--             change must be; ops: the operations that count; after_id: only changes with larger ids; from_day: only in
--             this partition or a later one, null: in any
-- Result:     position of the key; the change and its partition. No row for a key without such a change.
create or replace function rowrelay.latest_since(relations regclass[], keys text[], above_ids bigint[],
                                                 below_ids bigint[], ops "char"[],
                                                 after_id bigint, from_day date)
returns table ("position" integer, change_id bigint, day date)
-- puts the keys into a hash table and scans the log; the caller has set other plans
language plpgsql stable set plan_cache_mode = force_custom_plan set enable_hashjoin = on set enable_seqscan = on
set enable_nestloop = off set enable_mergejoin = off set jit = off as $$
declare
  -- known to the planner, so that it leaves out partitions
  first_id constant bigint := greatest(after_id, (select min(a) from unnest(above_ids) as a));
  last_id  constant bigint := (select max(b) from unnest(below_ids) as b);
  since    constant date := coalesce(from_day, '-infinity');
begin
  return query
    with wanted as materialized (
      select u.n::integer as n, c.id as capture, u.key, u.above, u.below
        from unnest(relations, keys, above_ids, below_ids) with ordinality as u(relation, key, above, below, n)
        join rowrelay.capture c on c.relation = u.relation
    )
    select distinct on (w.n) w.n, h.id, h.day
      from rowrelay.readable_change h
      join wanted w on w.capture = h.capture and w.key = h.key
     where h.id > first_id and h.id < last_id and h.day >= since and h.op = any (ops)
       and h.id > w.above and h.id < w.below
     order by w.n, h.id desc;
end
$$;
