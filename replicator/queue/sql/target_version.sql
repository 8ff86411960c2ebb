-- Whether what is known of a target still holds.
--   $1 target
select t.version from rowrelay.target t where t.id = $1::integer and t.dropped_at is null;
