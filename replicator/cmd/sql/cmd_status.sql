-- The state of each target, for people.
select s.target, s.state, s.backlog, date_trunc('second', s.oldest_pending) as oldest_pending,
       round(s.rate, 1) as "rate/s", s.errors, s.blocked, s.note
  from rowrelay.status s
 order by s.target;
