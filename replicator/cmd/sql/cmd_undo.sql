-- The statements that undo change $3 of row $2 ('': the table has no key) of table $1; $4 whether to run them.
select rowrelay.undo(coalesce(rowrelay.table_named($1::text), $1::regclass), $2::text, $3::bigint, $4::boolean);
