-- The 200 latest refused changes, for the console, and how many there are in all.
select json_build_object(
  'count', (select count(*) from rowrelay.errors),
  'errors', (select coalesce(json_agg(e order by e.refused_at desc, e.change::bigint desc), '[]')
               from (select x.target, x.change_id::text as change, x.relation::text as "table", x.op, x.key, x.state,
                            x.attempts, x.sqlstate, x.message, x.detail, x.refused_at,
                            rowrelay.image_texts(x.old_row) as old_row, rowrelay.image_texts(x.new_row) as new_row
                       from rowrelay.errors x
                      order by x.refused_at desc, x.change_id desc limit 200) as e));
