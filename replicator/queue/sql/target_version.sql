-- The version of a target, by which a process sees whether what it knows of the target is up to date. No row: it is
-- dropped, or the database was restored, or is being restored, since the process connected: then it connects again, and
-- forgets what it knew. Of rowrelay.is_restored() it is the half that costs a claim next to nothing.
--   $1 target
select t.version
  from rowrelay.target t
 where t.id = $1::integer and t.dropped_at is null
   and exists (select from rowrelay.migration m
                where m.version = 1 and coalesce(m.written_by, m.xmin::text::bigint) = m.xmin::text::bigint);
