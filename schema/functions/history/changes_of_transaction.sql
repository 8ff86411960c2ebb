-- Purpose:    lists the changes of a transaction. Ticks tell between which ids and in which partitions they are. In a
--             log that was restored from a dump into another server, two transactions can have the same id.
-- Parameters: txid
-- Result:     the changes and their partitions, in order; none if it made none or has not ended
create or replace function rowrelay.changes_of_transaction(txid xid8) returns table (change_id bigint, day date)
language plpgsql stable set plan_cache_mode = force_custom_plan set enable_seqscan = off set jit = off as $$
declare
  wanted constant xid8 := changes_of_transaction.txid;
  last   rowrelay.tick;
  before rowrelay.tick; -- it had written nothing
  after  rowrelay.tick; -- it was over
  eras   integer;
  passed bigint := 0; -- all eras up to this id have been searched
begin
  select t.* into last from rowrelay.tick t order by t.id desc limit 1;
  eras := coalesce(last.era + (pg_snapshot_xmax(last.snapshot) > pg_snapshot_xmax(pg_current_snapshot()))::integer, 0);
  for this in 0..eras loop
    select t.* into before
      from rowrelay.tick t
     where t.era = this and pg_snapshot_xmax(t.snapshot) <= wanted and wanted <> all (t.writers)
     order by pg_snapshot_xmax(t.snapshot) desc, t.id desc limit 1;
    if before.id is null and this > 0 then
      select t.* into before from rowrelay.tick t where t.era = this - 1 order by pg_snapshot_xmax(t.snapshot) desc,
        t.id desc limit 1;
      before.low := greatest(before.high, passed);
    end if;
    select t.* into after
      from rowrelay.tick t
     where t.era = this and pg_snapshot_xmax(t.snapshot) > wanted and pg_visible_in_snapshot(wanted, t.snapshot)
       and t.indexed_to is null
     order by pg_snapshot_xmax(t.snapshot), t.id limit 1;
    if after.id is not null then
      continue when after.first_day is null and before.id is not null;
      -- It had not ended at the previous tick, so it is in the blocks of this one.
      if eras = 0 and after.block_ids is not null and exists (select from rowrelay.tick t where t.id < after.id) then
        return query
          select c.id, c.day
            from (select lower(b.ids) as first_id, upper(b.ids) as end_id
                    from unnest(after.block_ids, after.block_txids) as b(ids, txids)
                   where b.txids @> wanted::text::bigint
                  offset 0) as b -- no function is pushed down through a security_barrier view to its index
            cross join lateral (
              select h.id, h.day from rowrelay.readable_change h
               where h.id >= b.first_id and h.id < b.end_id and h.day between after.first_day and after.last_day
                 and h.txid = wanted
              offset 0) as c
           order by c.id;
        continue;
      end if;
      return query
        select c.id, c.day from rowrelay.readable_change c
         where c.id > coalesce(before.low, 0) and c.id <= after.high
           -- earlier ticks may have been dropped with their days
           and c.day between case when before.id is null then '-infinity' else after.first_day end
                         and case when before.id is null then 'infinity' else after.last_day end
           and c.txid = wanted
         order by c.id;
    else
      select t.high into passed from rowrelay.tick t where t.era = this + 1 order by pg_snapshot_xmax(t.snapshot),
        t.id limit 1;
      passed := coalesce(passed, 9223372036854775807);
      return query
        select c.id, c.day from rowrelay.readable_change c
         where c.id > coalesce(before.low, 0) and c.id <= passed
           and c.day >= coalesce(before.open_from, '-infinity') and c.txid = wanted
         order by c.id;
    end if;
  end loop;
end
$$;
