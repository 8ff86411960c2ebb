-- Purpose:    as rowrelay.latest_changes(), of keys in the given spelling only. Changes that no tick has indexed yet
--             are read once for all keys; the others day by day, from the last day back, until all are found.
-- Parameters: as for rowrelay.latest_changes()
-- Result:     the same
create or replace function rowrelay.latest_by_text(relations regclass[], keys text[], above_ids bigint[],
                                                   below_ids bigint[], ops "char"[])
returns table ("position" integer, change_id bigint, day date)
language plpgsql stable set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
set enable_mergejoin = off set jit = off as $$
declare
  positions integer[] := array(select generate_subscripts(keys, 1)); -- of the keys still to be found
  best_ids  bigint[];  -- the last change found for each so far
  best_days date[];
  rest      bigint;    -- the index may lack changes with larger ids
  from_day  date;
  this_day  record;
begin
  above_ids := array(select coalesce(above_ids[p], 0) from unnest(positions) as p order by p);
  below_ids := array(select coalesce(below_ids[p], 9223372036854775807) from unnest(positions) as p order by p);
  select u.up_to, u.from_day into rest, from_day from rowrelay.indexed_up_to() as u;
  if (select max(b) from unnest(below_ids) as b) > rest + 1 then
    select array_agg(l.change_id order by l.position), array_agg(l.day order by l.position),
      array_agg(l.position order by l.position)
      into best_ids, best_days, positions
      from rowrelay.latest_since(relations, keys, above_ids, below_ids, ops, rest, from_day) as l;
    return query select * from unnest(positions, best_ids, best_days);
    positions := array(select generate_subscripts(keys, 1) except select unnest(positions));
  end if;
  positions := array(select p from unnest(positions) as p where above_ids[p] < rest);
  best_ids := array_fill(null::bigint, array[cardinality(positions)]);
  best_days := array_fill(null::date, array[cardinality(positions)]);

  for this_day in select d.day, d.older_to from rowrelay.key_days_from_last() as d loop
    exit when cardinality(positions) = 0;
    select array_agg(coalesce(k.id, u.id) order by u.n),
      array_agg(case when k.id is null then u.day else this_day.day end order by u.n)
      into best_ids, best_days
      from unnest(positions, best_ids, best_days) with ordinality as u(p, id, day, n)
      left join lateral (
        select h.id
          -- no function is pushed down through a security_barrier view to its index
          from (select c.id, rowrelay.key_hash(c.id, keys[u.p]) as hash, greatest(above_ids[u.p], u.id) as above,
                below_ids[u.p] as below
                  from rowrelay.capture c where c.relation = relations[u.p] offset 0) as c
         cross join lateral (select k.change_id from rowrelay.readable_key k
                              where k.day = this_day.day and k.key_hash = c.hash and k.change_id <= rest
                                and k.change_id > c.above and k.change_id < c.below
                             offset 0) as k
         cross join lateral (select h.id, h.capture, h.key, h.op from rowrelay.readable_change h
                              where h.id = k.change_id and h.day = this_day.day offset 0) as h
         where h.capture = c.id and h.key = keys[u.p] and h.op = any (ops)
         order by h.id desc limit 1) as k on true;
    -- a change is the last one if all older days have smaller ids; there is none if all those ids are too small
    return query
      select u.p, u.id, u.day from unnest(positions, best_ids, best_days) as u(p, id, day)
        where u.id > this_day.older_to;
    select array_agg(u.p order by u.n), array_agg(u.id order by u.n), array_agg(u.day order by u.n)
      into positions, best_ids, best_days
      from unnest(positions, best_ids, best_days) with ordinality as u(p, id, day, n)
     where (u.id > this_day.older_to or above_ids[u.p] >= this_day.older_to) is not true;
    positions := coalesce(positions, '{}');
  end loop;
  return query select u.p, u.id, u.day from unnest(positions, best_ids, best_days) as u(p, id, day)
    where u.id is not null;
end
$$;
