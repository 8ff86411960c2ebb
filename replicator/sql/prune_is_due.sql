-- Whether this process is to drop what is old enough.
select rowrelay.prune_is_due();
