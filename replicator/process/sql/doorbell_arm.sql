-- Asks writers to ring for about the next three thousand changes; after that they stop by themselves, so that a bell to
-- which no process listens any more does not cost them a NOTIFY each for ever. The number is slightly random, so that
-- no process disarms a bell that another one has armed.
select setval('rowrelay.doorbell', rowrelay.last_change_id() + 3000 + (random() * 1000)::bigint);
