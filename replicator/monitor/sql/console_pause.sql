-- Pauses delivery to target $1: $2 who asks; null: the database user.
select rowrelay.pause($1::text)
  from (select set_config('rowrelay.actor', coalesce($2, current_setting('rowrelay.actor', true)), true)) as actor;
