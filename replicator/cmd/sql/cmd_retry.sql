-- Queues refused changes of target $1 again: $2 change ids; null: all, or all of table $3 (name), which may be gone.
select rowrelay.retry($1::text, case when $3::text is null then $2::bigint[]
                                     else array(select f.change_id from rowrelay.refusal f
                                                 where f.capture = any (rowrelay.captures_named($3))) end);
