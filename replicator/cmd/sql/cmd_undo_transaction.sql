-- The statements that undo all that transaction $1 did; $2 whether to run them.
select rowrelay.undo_transaction($1::xid8, $2::boolean);
