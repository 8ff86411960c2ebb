-- Purpose:    returns all changes of one transaction
-- Parameters: txid
-- Result:     rows of rowrelay.history, in order
create or replace function rowrelay.transaction(txid xid8) returns setof rowrelay.history
language sql stable as $$
  select h.*
    from (select array_agg(f.change_id) as ids, array_agg(f.day) as days
            from rowrelay.changes_of_transaction(transaction.txid) as f) as found
    cross join lateral rowrelay.history_at(found.ids, found.days) as h
   order by h.change_id
$$;
