-- Records that a target failed, and when it may be tried next. The wait is random, below a bound that doubles with
-- each attempt up to 30 s, so that several sources do not return at the same moment. Workers that fail at once count
-- as one attempt, and the longest requested wait holds. The message becomes one line, as lists show it. At the first
-- failure the target's new version tells all processes.
--   $1 target  $2 message  $3 hint  $4 minimum wait in milliseconds  $5 SQLSTATE, or null
with noted as (
  insert into rowrelay.trouble as o (target, message, hint, sqlstate, retry_at)
  values ($1::integer, regexp_replace($2, '\s*\n\s*', ' ', 'g'), $3, $5,
          clock_timestamp() + greatest($4::bigint, 10, 100 * random()) * interval '1 ms')
  on conflict (target) do update
    set last_at = clock_timestamp(), message = excluded.message, hint = excluded.hint,
        sqlstate = excluded.sqlstate,
        attempts = o.attempts + (o.retry_at <= clock_timestamp() or o.last_at > clock_timestamp())::integer,
        -- a time recorded while the clock was ahead does not count
        retry_at = case when o.retry_at <= clock_timestamp() or o.last_at > clock_timestamp()
                        then clock_timestamp()
                             + greatest($4::bigint, 10, least(30000, 100 * 2 ^ least(o.attempts, 20)) * random())
                               * interval '1 ms'
                        else greatest(o.retry_at, clock_timestamp() + $4::bigint * interval '1 ms') end
  returning (xmax = 0) as is_new
)
update rowrelay.target t set version = t.version + 1 from noted n where n.is_new and t.id = $1::integer;
