-- What is known of change $2 that target $1 refused, for the console; null: it is not refused any more.
select json_build_object(
  'change', x.change_id::text, 'target', x.target, 'table', x.relation::text, 'op', x.op, 'key', x.key,
  'state', x.state, 'attempts', x.attempts, 'sqlstate', x.sqlstate, 'message', x.message, 'detail', x.detail,
  'refused_at', x.refused_at,
  'old_row', rowrelay.image_texts(x.old_row), 'new_row', rowrelay.image_texts(x.new_row))
  from rowrelay.errors x
 where x.target = $1::text and x.change_id = $2::bigint;
