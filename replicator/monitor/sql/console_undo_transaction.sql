-- The statements that undo all that transaction $1 did, for the console. Nothing is run.
select coalesce(json_agg(u.statement order by u.place), '[]')
  from rowrelay.undo_transaction($1::text::xid8, false) with ordinality as u(statement, place);
