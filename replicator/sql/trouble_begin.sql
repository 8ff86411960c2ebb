-- A target cannot be delivered to.
--   $1 target  $2 message  $3 hint
insert into rowrelay.trouble as o (target, message, hint) values ($1::integer, $2, $3)
on conflict (target) do update
  set last_at = now(), attempts = o.attempts + 1, message = excluded.message, hint = excluded.hint;
