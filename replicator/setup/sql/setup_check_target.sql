-- Refuses a target that cannot be added: $1 name  $2 URL  $3 options.
select rowrelay.check_target_name($1::text), rowrelay.check_target($2::text, $3::jsonb);
