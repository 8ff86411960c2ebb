-- Purpose:    updates rows whose refused changes were overtaken (rowrelay.overtaken_up_to): queues each row as it is
--             now (rowrelay.requeue), which supersedes the refused change. The caller holds the locks of the lanes of
--             these changes and of the barrier lanes.
-- Parameters: numbers of the lanes; change ids (null: all that were refused there)
-- Result:     number of superseded changes. Warns of changes whose rows cannot be identified; these stay where they
--             are.
-- Errors:     as for rowrelay.requeue()
create or replace function rowrelay.retry_overtaken(lanes integer[], change_ids bigint[]) returns bigint
language plpgsql as $$
declare
  moot    record;
  refused record;
  present rowrelay.capture; -- as the table is captured now
  keys    text[];
  ids     bigint[];
  left_out bigint;
  total   bigint := 0;
begin
  for moot in
    with old as materialized (
      select g.target, g.capture, rowrelay.overtaken_up_to(g.target, g.capture, false) as up_to,
             rowrelay.overtaken_up_to(g.target, g.capture, true) as truncates_up_to
        from (select distinct r.target, r.capture from rowrelay.refusal r
               where r.lane = any (retry_overtaken.lanes) and r.state <> 'waiting') as g
    )
    select f.target, t.name, c.relation, min(c.relation_name) as relation_name,
           array_agg(f.change_id order by f.change_id) as ids
      from rowrelay.refusal f
      join rowrelay.target t on t.id = f.target
      join rowrelay.capture c on c.id = f.capture
      join old o on o.target = f.target and o.capture = f.capture
     where f.lane = any (retry_overtaken.lanes) and f.state <> 'waiting'
       and (change_ids is null or f.change_id = any (change_ids))
       and f.change_id <= case when f.row_hash = 0 and f.key is null then o.truncates_up_to else o.up_to end
     group by f.target, t.name, c.relation
  loop
    keys := '{}';
    ids := '{}';
    left_out := 0;
    select c.* into present
      from rowrelay.capture c
      join rowrelay.route r on r.capture = c.id and r.target = moot.target and r.until_id is null
     where c.relation = moot.relation and c.released_at is null;
    for refused in
      select h.id, k.old_key, k.new_key
        from rowrelay.refusal f
        join rowrelay.change h on h.id = f.change_id and h.day = f.day
        cross join lateral rowrelay.key_and_hash(present, h.old_row, h.new_row) as k
       where f.target = moot.target and f.change_id = any (moot.ids) and present.id is not null
    loop
      if refused.new_key is null and refused.old_key is null then
        left_out := left_out + 1;
      else
        keys := keys || array_remove(array[refused.old_key, refused.new_key], null);
        ids := ids || refused.id;
      end if;
    end loop;
    if left_out > 0 or present.id is null then
      raise warning 'target "%": changes of table % are not retried, because newer ones have arrived', moot.name,
        moot.relation_name
        using hint = (select 'It is unknown which of these rows still exist. Discard the changes: '
                              || rowrelay.command(format('rowrelay skip %s --target %%s', string_agg(l.id::text, ' ')),
                                                  'select rowrelay.skip(%L, %L);', moot.name,
                                                  array_agg(l.id)::text)
                       from (select i as id from unnest(moot.ids) as i where i <> all (ids) limit 20) as l);
    end if;
    continue when ids = '{}';
    perform rowrelay.requeue(moot.relation, moot.name, keys);
    delete from rowrelay.refusal f where f.target = moot.target and f.change_id = any (ids);
    insert into rowrelay.receipt (token, part, target, outcome, error, attempts, actor, settled_at, change_ids,
                                  first_id, last_id)
    values (nextval('rowrelay.claim_token'), 0, moot.target, 'superseded', 'the row was queued as it is now', 0,
            rowrelay.actor(), clock_timestamp(), ids, ids[1], ids[cardinality(ids)]);
    total := total + cardinality(ids);
  end loop;
  return total;
end
$$;
