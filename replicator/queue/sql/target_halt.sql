-- Halts a target until a person resumes it.
--   $1 target  $2 why
update rowrelay.target t set state = 'halted', reason = $2, version = t.version + 1 where t.id = $1::integer;
