-- The statement that adds changes to a table; no row when the table is not there. Its $1 is a JSON array of changes,
-- its $2 the source's id. It skips changes that are there already, from a delivery that was not settled.
--   $1 table's name
select format(
  'insert into %s (source, change_id, op, key, captured_at, txid, actor, old_row, new_row) '
  'select $2::uuid, c.change_id, c.op, c.key, c.captured_at, c.txid::xid8, c.actor, c.old_row, c.new_row '
    'from json_to_recordset($1::json) as c(change_id bigint, op text, key text, captured_at timestamptz, txid text, '
                                          'actor text, old_row json, new_row json) '
  'order by c.change_id '
  'on conflict (change_id, source) do nothing', to_regclass($1))
 where to_regclass($1) is not null;
