-- Whether this process is to seal days, and to drop what is old enough.
select rowrelay.seal_is_due(), rowrelay.prune_is_due();
