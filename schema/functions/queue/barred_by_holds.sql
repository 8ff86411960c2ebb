-- Purpose:    returns the tables whose changes wait for held ones of others: of what had their place at the target
--             before. A held change goes before all that came to its place since its own table went there no longer.
--             What came before that does not wait: then both were routed there.
-- Parameters: target
-- Result:     capture; up_to: its changes with larger ids wait
create or replace function rowrelay.barred_by_holds(target integer) returns table (capture integer, up_to bigint)
language sql stable as $$
  with held as materialized (
    select g.capture, c.relation, r.place, r.ends, r.has_ended,
           case when g.released > 0 then g.released_to -- those on their way have no end between them
                else (select min(f.change_id) from rowrelay.refusal f
                       where f.target = g.target and f.capture = g.capture and f.state = 'waiting') end as oldest
      from rowrelay.hold g
      join rowrelay.capture c on c.id = g.capture
      cross join lateral (
        select o.place, array_remove(o.former_ends || o.until_id, null) as ends, o.until_id is not null as has_ended
          from rowrelay.route o
         where o.capture = g.capture and o.target = g.target) as r
     where g.target = barred_by_holds.target and r.ends <> '{}'
  ), follower as (
    select h.capture as first, r.capture
      from held h
      join rowrelay.route r on r.target = barred_by_holds.target and r.place = h.place
    union
    select h.capture, r.capture
      from held h
      join rowrelay.capture c on c.relation = h.relation and c.relation <> 0
      join rowrelay.route r on r.target = barred_by_holds.target and r.capture = c.id
  )
  select f.capture, min(e.id)
    from held h
    join follower f on f.first = h.capture and f.capture <> h.capture
    cross join lateral (
      select coalesce(min(u.id) filter (where u.id >= h.oldest), case when h.has_ended then h.oldest end) as id
        from unnest(h.ends) as u(id)) as e
   where e.id is not null
   group by f.capture
$$;
