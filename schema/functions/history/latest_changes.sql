-- Purpose:    finds the last change between two ids of each of many rows by their keys
-- Parameters: relations, keys, above_ids, below_ids: for each key its table, its text in any spelling, and the ids
--             between which the change must be (null: no bound); ops: the operations that count
-- Result:     position of the key; the change and its partition. No row for a key without such a change.
create or replace function rowrelay.latest_changes(relations regclass[], keys text[], above_ids bigint[],
                                                   below_ids bigint[], ops "char"[])
returns table ("position" integer, change_id bigint, day date)
language plpgsql stable set plan_cache_mode = force_generic_plan set jit = off as $$
declare
  spelled record; -- all spellings, and of which key each is one
begin
  if not exists (select from rowrelay.capture c where c.relation = any (relations) and not c.key_is_exact) then
    return query select l.* from rowrelay.latest_by_text(relations, keys, above_ids, below_ids, ops) as l;
    return;
  end if;
  with asked as materialized (
    select u.* from unnest(relations, keys, above_ids, below_ids) with ordinality as u(relation, key, above, below, n)
  ), other as materialized (
    select c.relation, o.key, o.spelling
      from (select a.relation, array_agg(distinct a.key) as keys, min(coalesce(a.above, 0)) as above
              from asked a group by 1) as a
      join rowrelay.capture c on c.relation = a.relation and not c.key_is_exact and cardinality(c.key_columns) > 0
     cross join lateral rowrelay.other_spellings(c.id, a.keys, a.above) as o
  ), every as (
    select a.* from asked a
    union
    select a.relation, o.spelling, a.above, a.below, a.n
      from asked a join other o on o.relation = a.relation and o.key = a.key
  )
  select array_agg(e.relation order by e.n) as relations, array_agg(e.key order by e.n) as keys,
         array_agg(e.above order by e.n) as above_ids, array_agg(e.below order by e.n) as below_ids,
         array_agg(e.n::integer order by e.n) as positions
    into spelled from every e;
  return query
    select distinct on (1) spelled.positions[l.position], l.change_id, l.day
      from rowrelay.latest_by_text(spelled.relations, spelled.keys, spelled.above_ids, spelled.below_ids, ops) as l
     order by 1, 2 desc;
end
$$;
