-- The state of each target, for the live view: failing ones first.
-- Gives live: target, state, backlog, oldest, rate, errors, blocked, note
select s.target, s.state, s.backlog, extract(epoch from s.oldest_pending)::bigint as oldest, round(s.rate, 1) as rate,
       s.errors, s.blocked, regexp_replace(s.note, '\s+', ' ', 'g') as note
  from rowrelay.status s
 order by case
            when s.state in ('failing', 'halted') then 0
            when s.state = 'not running' then 1
            when s.errors > 0 or s.blocked > 0 then 2
            when s.state = 'paused' then 3
            else 4
          end, s.backlog desc, s.target;
