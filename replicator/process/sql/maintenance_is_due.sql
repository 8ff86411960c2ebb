-- Whether this process is to do maintenance, to seal days, and to drop days that are past their retention.
-- Gives due: maintain, seal, prune
select rowrelay.maintain_is_due() as maintain, rowrelay.seal_is_due() as seal, rowrelay.prune_is_due() as prune;
