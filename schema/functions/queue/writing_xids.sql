-- Purpose:    returns the transactions of rowrelay.writers() by the transaction ids that changes have. One read of
--             pg_locks shows both: a transaction locks its id before it locks rowrelay.change, and keeps both locks to
--             its end.
-- Result:     xids; nameless: whether there are transactions without an id. Such a transaction has ended meanwhile or
--             has not written anything yet, but may have taken change ids.
create or replace function rowrelay.writing_xids(out xids xid8[], out nameless boolean)
language sql volatile as $$
  with locks as materialized (
    select l.* from pg_locks l where l.granted and l.locktype in ('relation', 'transactionid')
  ), writers as (
    select distinct l.virtualtransaction
      from locks l
     where l.locktype = 'relation'
       and l.database = (select d.oid from pg_database d where d.datname = current_database())
       and l.relation = 'rowrelay.change'::regclass
       and l.mode = 'RowExclusiveLock'
  ), named as (
    -- a subtransaction has a lock and a later id too; pg_locks shows ids modulo 2^32
    select w.virtualtransaction,
      min(now.xid + ((l.transactionid::text::bigint - now.xid + 2147483648) & 4294967295) - 2147483648) as xid
      from writers w
      cross join (select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as xid) as now
      left join locks l on l.virtualtransaction = w.virtualtransaction and l.locktype = 'transactionid'
        and l.mode = 'ExclusiveLock'
     group by w.virtualtransaction
  )
  select coalesce(array_agg(n.xid::text::xid8 order by n.xid) filter (where n.xid is not null), '{}'),
         coalesce(bool_or(n.xid is null), false)
    from named n
$$;
