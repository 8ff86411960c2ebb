-- Whether this server may have forgotten change ids that it had given out: the id after which it continues, and whether
-- more has happened to the server than a restart.
select s.goes_on_after, s.is_alarm from rowrelay.skip_lost_ids() as s;
