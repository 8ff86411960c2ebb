-- Purpose:    finds the steps that foreign keys make wait for a step of an earlier change. The reverse order is usually
--             right. But what a constraint did to referring rows (ON DELETE CASCADE, ...) is captured after the change
--             of the row they refer to, which has to be restored first. Deferrable constraints are deferred
--             (rowrelay.undo_defers) and need no order.
-- Parameters: steps in the order of their changes
-- Result:     position of a step; of one that must be done before it; whether the first needs no statement, because ON
--             UPDATE CASCADE will do it
create or replace function rowrelay.undo_references(steps rowrelay.undo_step[], out step integer, out needs integer,
                                                    out follows boolean) returns setof record
language sql stable set search_path = pg_catalog, pg_temp
set enable_nestloop = off set enable_mergejoin = off as $$ -- the planner expects ten steps, there may be many thousands
  with given as materialized (
    select u.position::integer as position, u.relation, u.was_key, u.be_key, u.was, u.be
      from unnest(steps) with ordinality as u(change_id, first_id, capture, relation, was_key, be_key, was,
                                              be, position)
  ), reference as materialized (
    select k.oid, k.conrelid, k.confrelid, k.confupdtype, k.condeferrable,
           rowrelay.attribute_names(k.conrelid, k.conkey) as child_names,
           rowrelay.attribute_names(k.confrelid, k.confkey) as parent_names
      from pg_constraint k
     where k.contype = 'f' and k.conrelid in (select relation from given)
       and k.confrelid in (select relation from given)
  ), child as materialized (
    -- rows whose reference changed
    select r.oid, r.confupdtype, r.condeferrable, g.position, rowrelay.values_of(g.was, r.child_names) as was,
           rowrelay.values_of(g.be, r.child_names) as be,
           coalesce(g.was - r.child_names = g.be - r.child_names, false) as rest_stays
      from given g join reference r on r.conrelid = g.relation
     where rowrelay.values_of(g.was, r.child_names) is distinct from rowrelay.values_of(g.be, r.child_names)
  ), parent as materialized (
    -- rows whose referenced values changed
    select r.oid, g.position, rowrelay.values_of(g.was, r.parent_names) as was,
           rowrelay.values_of(g.be, r.parent_names) as be, g.was is not null and g.be is not null as is_update
      from given g join reference r on r.confrelid = g.relation
     where rowrelay.values_of(g.was, r.parent_names) is distinct from rowrelay.values_of(g.be, r.parent_names)
  ), event as (
    -- a referenced value may come and go several times, and so may the rows that refer to it
    select p.oid, p.was as referred, p.position, 'comes' as what from parent p where p.was is not null
    union all
    select p.oid, p.be, p.position, 'goes' from parent p where p.be is not null
    union all
    select c.oid, c.be, c.position, 'was used' from child c where c.be is not null
  ), neighbour as (
    select e.what, e.position,
           max(e.position) filter (where e.what = 'goes') over before as gone,
           max(e.position) filter (where e.what = 'comes') over before as come_before,
           e.oid
      from event e
    window before as (partition by e.oid, e.referred order by e.position range between unbounded preceding
                      and 1 preceding)
  )
  select n.position, n.gone, f.follows
    from neighbour n
    join child c on c.oid = n.oid and c.position = n.position
    join parent p on p.oid = n.oid and p.position = n.gone
    cross join lateral (select c.confupdtype = 'c' and p.is_update and c.was = p.was and c.rest_stays) as f(follows)
   where n.what = 'was used' and n.gone > coalesce(n.come_before, 0) and (f.follows or not c.condeferrable)
  union all
  -- the steps of one row stay in their order
  select o.position, o.newer, false
    from (select s.position, lead(s.position) over (partition by s.relation, s.key order by s.position) as newer
            from (select g.position, g.relation, unnest(array[g.was_key, nullif(g.be_key, g.was_key)]) as key
                  from given g) as s
           where s.key is not null and exists (select from reference)) as o
   where o.newer <> o.position
$$;
