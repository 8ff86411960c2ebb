-- Takes on a role until the transaction ends.
--   $1 role
select set_config('role', $1, true);
