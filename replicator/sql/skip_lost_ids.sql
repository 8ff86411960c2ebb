-- Whether this server has forgotten change ids that it had given out: then the one after which it goes on.
select rowrelay.skip_lost_ids();
