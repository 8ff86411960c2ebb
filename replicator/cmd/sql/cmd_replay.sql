-- Queues changes of the log again: $1 target, $2 since, $3 until (null: now), $4 table (null: all).
select rowrelay.replay($1::text, $2::timestamptz, coalesce($3::timestamptz, now()), $4::regclass);
