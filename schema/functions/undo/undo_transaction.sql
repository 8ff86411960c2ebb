-- Purpose:    takes back all that a transaction did: gives the statements that make its rows what they were before, to be
--             read and run by a person in one transaction, and runs them when asked to
-- Parameters: txid; apply: run them. They are run with the caller's rights, and captured as any other change.
-- Result:     statements in their order: the last change first, unless a foreign key asks for another
-- Errors:     the log has no such transaction; one of its changes cannot be undone, see rowrelay.undo(). Nothing is undone
--             then.
create or replace function rowrelay.undo_transaction(txid xid8, apply boolean default false) returns setof text
language plpgsql as $$
declare
  changes rowrelay.change[];
begin
  select array_agg(h order by h.id) into changes
    from rowrelay.changes_of_transaction(txid) as f
    cross join lateral (select c.* from rowrelay.readable_change c where c.id = f.change_id and c.day = f.day offset 0) as h;
  if changes is null then
    raise exception 'the log has no change of transaction %', txid
      using errcode = 'no_data_found', hint = 'Column txid of rowrelay.history has the numbers.';
  end if;
  if cardinality(changes) <> rowrelay.changes_in_transaction(txid) then
    raise exception 'transaction % also changed tables that % may not read', txid, current_user
      using errcode = 'insufficient_privilege', detail = 'It is undone as a whole or not at all.';
  end if;
  return query select rowrelay.undo_changes(changes, apply);
end
$$;
