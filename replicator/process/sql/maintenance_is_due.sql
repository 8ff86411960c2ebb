-- Whether this process is to do maintenance, to seal days, and to drop what is old enough.
select rowrelay.maintain_is_due(), rowrelay.seal_is_due(), rowrelay.prune_is_due();
