-- All that is known of these changes, one object each, the newest first.
--   $1 ids  $2 their days
select row_to_json(h)
  from rowrelay.history h
 where h.change_id = any ($1::bigint[])
   and h.day = any ($2::date[])
 order by h.change_id desc;
