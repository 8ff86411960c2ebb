-- Purpose:    whether others may have committed captured changes that this transaction does not see, because it sees
--             tables as they were when it began (REPEATABLE READ, SERIALIZABLE). Ids of changes are given out before
--             all eyes: there may be such changes if ids were given out after the last one that can be seen; and if ids
--             before it are not to be seen, while a transaction that was open when this one began has committed.
-- Result:     also true where those who got the ids were rolled back, or would have to be searched for long
create or replace function rowrelay.may_miss_changes() returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  now_over xid8;   -- the first transaction that has committed since this one began, of those that were open
  seen     bigint; -- the last change of others
  before   bigint; -- the last one that was captured when that transaction began
begin
  if current_setting('transaction_isolation') like 'read %' then
    return false;
  end if;
  select coalesce(max(c.id), 0) into seen from rowrelay.change c where c.txid <> pg_current_xact_id();
  if coalesce(pg_sequence_last_value('rowrelay.change_id'::regclass), 0) - seen
     > (select count(*) from rowrelay.change c where c.id > seen) then
    return true;
  end if;
  select x.txid into now_over from pg_snapshot_xip(pg_current_snapshot()) as x(txid)
   where pg_xact_status(x.txid) = 'committed' order by x.txid limit 1;
  if not found then
    return false;
  end if;
  select t.low into before from rowrelay.tick t
   where t.era = (select max(e.era) from rowrelay.tick e) and pg_snapshot_xmax(t.snapshot) <= now_over
     and now_over <> all (t.writers)
   order by t.id desc limit 1;
  before := coalesce(before, 0);
  return seen - before > 100000
         or seen - before > (select count(*) from rowrelay.change c where c.id > before and c.id <= seen);
end
$$;
