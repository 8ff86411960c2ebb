-- The statements that take back all that transaction $1 did; $2: run them.
select rowrelay.undo_transaction($1::xid8, $2::boolean);
