-- Seals some of the log's finished days, if sealing is on; gives the number of blocks.
select rowrelay.seal_next();
