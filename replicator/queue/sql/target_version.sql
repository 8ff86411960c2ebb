-- The version of a target, by which a process sees whether what it knows of the target is up to date. No row: it is
-- dropped, or the database was restored, or is being restored, since the process connected: then it connects again, and
-- forgets what it knew. Of rowrelay.another_life() this is what may change beneath a connection.
--   $1 target
select t.version
  from rowrelay.target t
 where t.id = $1::integer and t.dropped_at is null
   and exists (select from rowrelay.source s
                where split_part(s.server[2], ' ', 2) = 'rowrelay.change_id'::regclass::oid::text);
