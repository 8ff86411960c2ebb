-- Purpose:    which changes a transaction made. Ticks tell between which ids and in which partitions they are.
-- Parameters: txid
-- Result:     the changes and their partitions, in order; none when it made none, or is not over
create or replace function rowrelay.changes_of_transaction(txid xid8) returns table (change_id bigint, day date)
language plpgsql stable set plan_cache_mode = force_custom_plan set enable_seqscan = off set jit = off as $$
declare
  before rowrelay.tick; -- it had written nothing
  after  rowrelay.tick; -- it was over
begin
  select t.* into before
    from rowrelay.tick t
   where pg_snapshot_xmax(t.snapshot) <= changes_of_transaction.txid and changes_of_transaction.txid <> all (t.writers)
   order by pg_snapshot_xmax(t.snapshot) desc, t.id desc limit 1;
  select t.* into after
    from rowrelay.tick t
   where pg_snapshot_xmax(t.snapshot) > changes_of_transaction.txid
     and pg_visible_in_snapshot(changes_of_transaction.txid, t.snapshot)
     and t.indexed_to is null
   order by pg_snapshot_xmax(t.snapshot), t.id limit 1;
  if after.id is null then
    return query
      select c.id, c.day from rowrelay.change c
       where c.id > coalesce(before.low, 0) and c.day >= coalesce(before.open_from, '-infinity')
         and c.txid = changes_of_transaction.txid
       order by c.id;
  elsif after.first_day is not null then
    return query
      select c.id, c.day from rowrelay.change c
       where c.id > coalesce(before.low, 0) and c.id <= after.high
         and c.day between after.first_day and after.last_day
         and c.txid = changes_of_transaction.txid
       order by c.id;
  end if;
end
$$;
