-- Whether a target has anything queued, also what another process is pushing just now.
--   $1 target
select exists (select from rowrelay.queue q
                where q.lane between rowrelay.lane_number($1::integer, -1) and rowrelay.lane_number($1::integer, 1023));
