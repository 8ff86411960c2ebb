-- Queues changes of the log again: $1 target  $2 since  $3 until  $4 table; null: all  $5 who asks; null: the database
-- user.
select rowrelay.replay($1::text, $2::timestamptz, $3::timestamptz, $4::text::regclass)
  from (select set_config('rowrelay.actor', coalesce($5, current_setting('rowrelay.actor', true)), true)) as actor;
