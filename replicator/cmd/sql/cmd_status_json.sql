-- The state of each target, for programs: the view, and the age in seconds.
select coalesce(json_agg(t order by t.target), '[]')
  from (select s.*, extract(epoch from s.oldest_pending) as oldest_pending_seconds from rowrelay.status s) t;
