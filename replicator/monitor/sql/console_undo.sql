-- The statements that undo change $3 of row $2 (null: the table has no key) of table $1, for the console. None is run.
select coalesce(json_agg(u.statement order by u.place), '[]')
  from rowrelay.undo($1::text::regclass, $2::text, $3::bigint, false) with ordinality as u(statement, place);
