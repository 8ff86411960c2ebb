-- Purpose:    lists captured tables that lack triggers, because these were dropped or disabled, or a partition or child
--             is new. One query for all: one by one, thousands of tables would take seconds.
-- Result:     capture; whether a trigger for rows is missing; whether one for TRUNCATE is missing. No row for a capture
--             that has all triggers, or whose table is gone.
create or replace function rowrelay.lacking_triggers()
  returns table (capture integer, for_rows boolean, for_truncates boolean)
-- resets the planner settings of processes, which suit only the queue
language plpgsql stable set plan_cache_mode = auto set enable_seqscan = on set enable_bitmapscan = on
  set enable_hashjoin = on
set enable_mergejoin = on set jit = off as $$
begin
  return query
    with recursive member(capture, relation) as (
      select c.id, c.relation::oid from rowrelay.capture c where c.released_at is null
      union
      select m.capture, i.inhrelid from member m join pg_inherits i on i.inhparent = m.relation
    ), present(relation, function, argument, n) as (
      select t.tgrelid, p.proname::text, case when p.proname = 'capture_truncate' then t.tgargs end, count(*)
        from pg_trigger t
        join pg_proc p on p.oid = t.tgfoid and p.pronamespace = 'rowrelay'::regnamespace
       where t.tgenabled = 'A'
       group by 1, 2, 3
    )
    select m.capture,
           -- with a row filter there are five triggers instead of one
           bool_or(coalesce(r.n, 0) < case when c.row_filter is null then 1 else 5 end),
           bool_or(coalesce(s.n, 0) < 2)
      from member m
      join rowrelay.capture c on c.id = m.capture
      join pg_class k on k.oid = m.relation and k.relkind in ('r', 'p')
      left join present r on r.relation = m.relation and r.function = 'capture_' || m.capture
      left join present s on s.relation = m.relation and s.function = 'capture_truncate'
                         and s.argument = convert_to(m.capture::text, 'UTF8') || E'\\x00'::bytea
     group by m.capture
    having bool_or(coalesce(r.n, 0) < case when c.row_filter is null then 1 else 5 end)
      or bool_or(coalesce(s.n, 0) < 2);
end
$$;
