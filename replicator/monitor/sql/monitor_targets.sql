-- The state of each target, for metrics; the backlog is counted up to a million.
-- Gives sample: target, state, backlog, lag, errors, blocked, rate
select s.target, s.state, s.backlog, coalesce(extract(epoch from s.oldest_pending), 0)::numeric(20, 6) as lag,
       s.errors, s.blocked, s.rate
  from rowrelay.status s
 order by s.target;
