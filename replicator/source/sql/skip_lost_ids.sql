-- Whether this server may have forgotten change ids that it had given out: the id after which it continues, and whether
-- more has happened to the server than a restart. Fails with RR002 where this may be a copy of the source.
--   $1 whether it is the source now, wherever it comes from
select s.goes_on_after, s.is_alarm from rowrelay.skip_lost_ids($1::boolean) as s;
