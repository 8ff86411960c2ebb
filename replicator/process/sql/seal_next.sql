-- Seals some of the log's days that are over, if that is wanted: how many blocks.
select rowrelay.seal_next();
