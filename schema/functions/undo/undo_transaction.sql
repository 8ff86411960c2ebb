-- Purpose:    undoes a whole transaction: returns the statements that restore its rows, for a person to read and run in
--             one transaction, or runs them
-- Parameters: txid; apply: run the statements. They run with the caller's rights and are captured like any other
--             change.
-- Result:     statements in the order to run: the last change first, unless a foreign key needs another order
-- Errors:     the log has no such transaction, or two, because it was restored in another server; one of its changes
--             cannot be undone, see rowrelay.undo(). Then nothing is undone.
create or replace function rowrelay.undo_transaction(txid xid8, apply boolean default false) returns setof text
language plpgsql as $$
declare
  changes rowrelay.change[];
  hidden  record;
begin
  select array_agg(h order by h.id) into changes
    from rowrelay.changes_of_transaction(txid) as f
    cross join lateral (select c.* from rowrelay.readable_change c where c.id = f.change_id
                        and c.day = f.day offset 0) as h;
  select h.* into hidden from rowrelay.hidden_tables() as h;
  if changes is null and (hidden.message is null or rowrelay.changes_in_transaction(txid) = 0) then
    raise exception 'the log has no change of transaction %', txid
      using errcode = 'no_data_found',
            hint = 'To see the ids of transactions: '
                     || rowrelay.command('rowrelay log', 'select txid, change_id from rowrelay.history;');
  end if;
  if changes is null or cardinality(changes) <> rowrelay.changes_in_transaction(txid) then
    raise exception 'transaction % changed tables that % may not read', txid, current_user
      using errcode = 'insufficient_privilege', detail = 'A transaction is undone as a whole or not at all.',
            hint = hidden.hint;
  end if;
  if exists (select from rowrelay.source s
              where s.restored_id >= changes[1].id and s.restored_id < changes[cardinality(changes)].id) then
    raise exception 'two transactions of the log have number %, one of them from before the database was restored',
      txid
      using errcode = 'ambiguous_parameter',
            hint = 'Undo the changes that you mean one by one, the last first. To see them: '
                     || rowrelay.command('rowrelay log --txid %s', 'select * from rowrelay.transaction(%L);',
                                         txid::text);
  end if;
  return query select rowrelay.undo_changes(changes, apply);
end
$$;
