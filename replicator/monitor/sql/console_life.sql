-- The changes of one row, newest first, for the console.
--   $1 table  $2 key  $3 only before this change; null: from the newest
select coalesce(json_agg(h order by h.id desc), '[]')
  from (select x.change_id as id, x.change_id::text as change, x.relation::text as "table", x.op, x.key,
               rowrelay.image_texts(x.old_row) as old_row, rowrelay.image_texts(x.new_row) as new_row,
               rowrelay.changed_texts(x.changed) as changed,
               x.captured_at, x.txid::text, x.actor, x.status, x.problem
          from rowrelay.history_of($1::regclass, $2) as x
         where $3::bigint is null or x.change_id < $3
         order by x.change_id desc limit 50) as h;
