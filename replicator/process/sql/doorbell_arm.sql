-- Asks writers to ring, for the next some thousand changes: an armed bell that nobody listens to any more must not cost
-- the writers a NOTIFY each for ever. The number is a little different each time, so that nobody disarms another's.
select setval('rowrelay.doorbell', rowrelay.last_change_id() + 3000 + (random() * 1000)::bigint);
