-- The changes of one row, newest first, for the console.
--   $1 oid of the table  $2 key  $3 only before this change; null: from the newest
--   $4 since  $5 until  $6 who made it  $7 operation ($4 to $7 null: any)
select coalesce(json_agg(h order by h.id desc), '[]')
  from (select x.change_id as id, x.change_id::text as change, x.relation::text as "table", x.op, x.key,
               rowrelay.image_texts(x.old_row) as old_row, rowrelay.image_texts(x.new_row) as new_row,
               rowrelay.changed_texts(x.changed) as changed,
               x.captured_at, x.txid::text, x.actor, x.status, x.problem,
               x.caveat -> 'redacted' as redacted,
               (select jsonb_object_agg(d.key, d.value -> 'actor')
                  from jsonb_each(x.deliveries) as d where d.value ? 'actor') as settled_by,
               (select jsonb_object_agg(d.key, concat(d.value ->> 'again', ' by ', d.value ->> 'again_by'))
                  from jsonb_each(x.deliveries) as d where d.value ? 'again') as again
          from rowrelay.history_of($1::oid::regclass, $2) as x
         where ($3::bigint is null or x.change_id < $3)
           and ($4::timestamptz is null or x.captured_at >= $4)
           and ($5::timestamptz is null or x.captured_at <= $5)
           and ($6::text is null or x.actor = $6 or x.db_user = $6)
           and ($7::text is null or x.op = $7)
         order by x.change_id desc limit 50) as h;
