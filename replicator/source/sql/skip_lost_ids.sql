-- Whether this server may have forgotten change ids that it had given out: then the one after which it goes on, and whether more
-- has happened to it than a start.
select s.goes_on_after, s.is_alarm from rowrelay.skip_lost_ids() as s;
