-- Purpose:    lists captured tables that lack triggers, because these were dropped or disabled, or a partition or child
--             is new; or whose triggers are on tables that no longer belong to them. One query for all: one by one,
--             thousands of tables would take seconds.
-- Result:     capture; whether a trigger for rows or statements is missing, or one too many; whether one for TRUNCATE
--             is missing; whether the first is only because it is to be captured by statement and is captured by row,
--             or the other way round, and its triggers miss nothing until they are replaced; tables that
--             have its triggers and no longer belong to it, or null. No row for a capture that has all triggers, or
--             whose table is gone.
create or replace function rowrelay.lacking_triggers()
  returns table (capture integer, for_rows boolean, for_truncates boolean, turns boolean, left_over regclass[])
-- resets the planner settings of processes, which suit only the queue; no nested loop, because the numbers of triggers
-- are not known to the planner, and each table would be compared with each trigger
language plpgsql stable set plan_cache_mode = auto set enable_seqscan = on set enable_bitmapscan = on
set enable_hashjoin = on set enable_mergejoin = on set enable_nestloop = off set jit = off as $$
begin
  return query
    with recursive member(capture, relation, by_statement) as (
      select c.id, c.relation::oid, rowrelay.is_by_statement(c) from rowrelay.capture c where c.released_at is null
      union
      select m.capture, i.inhrelid, m.by_statement from member m join pg_inherits i on i.inhparent = m.relation
    ), present(relation, function, argument, state, n) as (
      select t.tgrelid, p.proname::text, case when p.proname in ('capture_truncate', 'stand_alone') then t.tgargs end,
             t.tgenabled, count(*)
        from pg_trigger t
       -- one function at a time, or the planner may read all triggers for each function
       cross join lateral (select p.proname from pg_proc p
                            where p.oid = t.tgfoid and p.pronamespace = 'rowrelay'::regnamespace offset 0) as p
       group by 1, 2, 3, 4
    ), lacking as (
      select m.capture,
             -- with a row filter there are five triggers instead of one
             coalesce(r.n, 0) < case when c.row_filter is null then 1 else 5 end
               or coalesce(e.n, 0) <> case when m.by_statement then 3 else 0 end
               or m.by_statement and a.n is null as rows,
             case when m.by_statement then e.n is null and o.n = case when c.row_filter is null then 1 else 5 end
                  else e.n = 3 and o.n >= 1 end as turns,
             coalesce(s.n, 0) < 2
               -- of foreign tables PostgreSQL has those since version 16
               and (k.relkind <> 'f' or current_setting('server_version_num')::integer >= 160000) as truncates
        from member m
        join rowrelay.capture c on c.id = m.capture
        join pg_class k on k.oid = m.relation and k.relkind in ('r', 'p', 'f')
        left join present r on r.relation = m.relation and r.function = 'capture_' || m.capture
                           and r.state = case when m.by_statement then 'R' else 'A' end
        left join present o on o.relation = m.relation and o.function = 'capture_' || m.capture
                           and o.state = case when m.by_statement then 'A' else 'R' end
        left join present e on e.relation = m.relation and e.function = rowrelay.statement_name(m.capture)
                           and e.state = 'O'
        left join present a on a.relation = m.relation and a.function = 'stand_alone' and a.state = 'D'
                           and a.argument = convert_to(m.capture::text, 'UTF8') || E'\\x00'::bytea
        left join present s on s.relation = m.relation and s.function = 'capture_truncate' and s.state = 'A'
                           and s.argument = convert_to(m.capture::text, 'UTF8') || E'\\x00'::bytea
    ), surplus as (
      select c.id as capture, p.relation
        from rowrelay.capture c
        -- equality, or each function would be compared with each trigger
       cross join lateral (values ('capture_' || c.id), (rowrelay.statement_name(c.id))) as f(name)
        join present p on p.function = f.name
       where c.released_at is null
      union
      select c.id, p.relation
        from rowrelay.capture c
        join present p on p.argument = convert_to(c.id::text, 'UTF8') || E'\\x00'::bytea
       where c.released_at is null
      except
      select m.capture, m.relation from member m
    )
    select u.capture, coalesce(bool_or(u.rows), false), coalesce(bool_or(u.truncates), false),
           coalesce(bool_and(u.turns) filter (where u.rows), false),
           array_agg(u.relation::regclass order by u.relation) filter (where u.relation is not null)
      from (select l.capture, l.rows, l.truncates, l.turns, null::oid as relation from lacking l
            union all
            select s.capture, false, false, null, s.relation from surplus s) as u
     group by u.capture
    having bool_or(u.rows) or bool_or(u.truncates) or count(u.relation) > 0;
end
$$;
