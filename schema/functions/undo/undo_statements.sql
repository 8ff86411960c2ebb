-- Purpose:    returns the statement of each step. It changes nothing when the row is not as the log left it, or when a
--             row with the key of one that comes back exists.
-- Parameters: steps
-- Result:     position of the step; INSERT, UPDATE or DELETE, null: there is nothing to change that the log knows of
-- Errors:     the log does not have columns that it would have to write, because they are left out or masked
create or replace function rowrelay.undo_statements(steps rowrelay.undo_step[])
returns table (place bigint, statement text)
language plpgsql stable set search_path = pg_catalog, pg_temp set quote_all_identifiers = off
set plan_cache_mode = force_custom_plan as $$ -- plans for as many rows as there are
begin
  perform rowrelay.check_insertable(i.step) -- asked once for all rows with the same columns
     from (select distinct on (s.capture, n.names) s as step
             from unnest(steps) as s cross join lateral (select array(select jsonb_object_keys(s.be))) as n(names)
            where s.was is null
            order by s.capture, n.names, s.change_id) as i;
  return query
    with keyed as materialized (
      select c.id from rowrelay.capture c
       where c.id in (select u.capture from unnest(steps) as u) and cardinality(rowrelay.live_key(c)) > 0
    ), step as materialized (
      select s.*, s.capture in (select k.id from keyed k) as has_key
        from unnest(steps) with ordinality as s(change_id, first_id, capture, relation, was_key, be_key, was, be, n)
    ), condition as materialized (
      select r.*
        from (select array_agg(s.capture order by s.n) as captures,
                     array_agg(coalesce(s.was, s.be) order by s.n) as texts
                from step s) as a
       cross join rowrelay.row_conditions(a.captures, a.texts) as r
    ), written as materialized (
      select s.n, bool_or(c.is_identity) as is_identity, string_agg(c.identifier, ', ' order by c.number) as names,
             string_agg(v.literal, ', ' order by c.number) as literals,
             string_agg(c.identifier || ' = ' || v.literal, ', ' order by c.number) as assignments
        from step s
        join rowrelay.undo_columns(array(select distinct u.capture from unnest(steps) as u)) as c
          on c.capture = s.capture and not c.is_generated
       cross join lateral (select quote_nullable(case when s.be ? c.name then s.be ->> c.name else c.added_value end)
                                    || c.type_cast) as v(literal)
       where s.was is null
          or s.be ? c.name and s.was ? c.name and s.was ->> c.name is distinct from s.be ->> c.name and not c.is_masked
       group by s.n
    ), follower as materialized (
      -- rows that refer to it are not part of this change, and must not be deleted with it
      select d.relation, string_agg(format(' and not exists (select from %s as c where %s)', r.child, r.condition), ''
                                    order by r.child::text) as absent
        from (select distinct s.relation from step s where s.be is null) as d
       cross join rowrelay.rows_that_would_follow(d.relation, 't', 'c') as r
       group by d.relation
    )
    select s.n,
           case
             when s.was is null then
               case when w.n is null then format('insert into %s default values', s.relation) -- it has no columns
                    else format('insert into %s (%s)%s select %s', s.relation, w.names,
                                case when w.is_identity then ' overriding system value' else '' end, w.literals) end
                 || case when c.by_key <> ''
                         then format(' where not exists (select from %s as t where %s)', s.relation, c.by_key)
                         else '' end
             when s.be is null then
               format('delete from %s as t where %s', s.relation, p.condition) || coalesce(f.absent, '')
             when w.n is not null then
               format('update %s as t set %s where %s', s.relation, w.assignments, p.condition)
           end
      from step s
      join condition c on c.place = s.n
      left join written w on w.n = s.n
      left join follower f on f.relation = s.relation
     cross join lateral (
       select case when s.has_key then c.exactly
                   -- one of several equal rows
                   else format('(t.tableoid, t.ctid) = (select t.tableoid, t.ctid from %s as t where %s limit 1)',
                               s.relation, coalesce(nullif(c.exactly, ''), 'true')) end) as p(condition);
end
$$;
