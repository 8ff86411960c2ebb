-- Purpose:    counts the rows of tables without a key that are equal to those of some steps: such a row is known by its
--             values alone
-- Parameters: steps
-- Result:     a row for each set of values, in the same order each time: how many rows have them now; how many more
--             will have them when all steps are undone; the first change of such a row
create or replace function rowrelay.rows_alike(steps rowrelay.undo_step[])
returns table (place bigint, relation regclass, change_id bigint, n bigint, added bigint)
language plpgsql as $$ -- with the caller's rights and search_path, as rowrelay.undo_apply()
declare
  condition text;
begin
  for place, relation, change_id, added, condition in
    with keyless as materialized (
      select c.id from rowrelay.capture c
       where c.id in (select s.capture from unnest(steps) as s) and cardinality(rowrelay.live_key(c)) = 0
    ), alike as materialized (
      select row_number() over (order by s.relation::oid, v.texts) as place, s.relation, s.capture, v.texts,
             min(s.change_id) as change_id, sum(v.added) as added
        from unnest(steps) as s
        join keyless k on k.id = s.capture
       cross join lateral (values (s.was, -1), (s.be, 1)) as v(texts, added)
       where v.texts is not null
       group by s.relation, s.capture, v.texts
    ), asked as materialized (
      select array_agg(a.capture order by a.place) as captures, array_agg(a.texts order by a.place) as texts
        from alike a
    )
    select a.place, a.relation, a.change_id, a.added, coalesce(nullif(r.exactly, ''), 'true')
      from alike a
      join (select r.* from asked cross join rowrelay.row_conditions(asked.captures, asked.texts) as r) as r
           on r.place = a.place
     order by a.place
  loop
    execute format('select count(*) from %s as t where %s', rowrelay.full_name(relation), condition) into n;
    return next;
  end loop;
end
$$;
