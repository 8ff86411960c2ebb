-- Discards refused changes of target $1: $2 change ids  $3 who asks; null: the database user.
select rowrelay.skip($1::text, $2::bigint[])
  from (select set_config('rowrelay.actor', coalesce($3, current_setting('rowrelay.actor', true)), true)) as actor;
