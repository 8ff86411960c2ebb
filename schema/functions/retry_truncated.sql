-- Purpose:    brings rows up to date whose refused changes are older than a TRUNCATE of one of the table's partitions that the
--             target has executed since. Delivered now, such a change would bring a row back that is gone; so the row is
--             queued as it is now (rowrelay.requeue), and the refused change has no meaning any more.
--             The caller holds the lanes of these changes, and those of barriers.
-- Parameters: numbers of the lanes; change ids (null: all that were refused there)
-- Result:     how many changes were dealt with so
-- Errors:     as rowrelay.requeue()
create or replace function rowrelay.retry_truncated(lanes integer[], change_ids bigint[]) returns bigint
language plpgsql as $$
declare
  moot  record;
  total bigint := 0;
begin
  for moot in
    select f.target, t.name, f.capture, c.relation, c.relation_name, c.released_at,
           array_agg(distinct f.key) filter (where f.key is not null) as keys,
           array_agg(f.change_id order by f.change_id) filter (where f.key is not null) as ids,
           count(*) filter (where f.key is null) as keyless
      from rowrelay.refusal f
      join rowrelay.target t on t.id = f.target
      join rowrelay.capture c on c.id = f.capture
     where f.lane = any (retry_truncated.lanes) and (change_ids is null or f.change_id = any (change_ids))
       and rowrelay.was_truncated_since(f.target, f.capture, f.change_id)
     group by f.target, t.name, f.capture, c.relation, c.relation_name, c.released_at
  loop
    if moot.keyless > 0 or moot.released_at is not null then
      raise warning 'target "%": refused changes of table % are not retried, because a partition was truncated since', moot.name,
        moot.relation_name
        using hint = format('Nobody can tell which of these rows are still there. Discard the changes: '
                            'select rowrelay.skip(%L, array[ids]), with the ids that rowrelay.errors lists.', moot.name);
    end if;
    continue when moot.keys is null or moot.released_at is not null;
    perform rowrelay.requeue(moot.relation, moot.name, moot.keys);
    delete from rowrelay.refusal f where f.target = moot.target and f.change_id = any (moot.ids);
    insert into rowrelay.receipt (token, part, target, outcome, error, attempts, actor, settled_at, change_ids, first_id, last_id)
    values (nextval('rowrelay.claim_token'), 0, moot.target, 'superseded', 'a partition was truncated since', 0, rowrelay.actor(),
            clock_timestamp(), moot.ids, moot.ids[1], moot.ids[cardinality(moot.ids)]);
    total := total + cardinality(moot.ids);
  end loop;
  return total;
end
$$;
