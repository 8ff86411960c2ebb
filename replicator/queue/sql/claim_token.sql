-- Gives a new claim its number: a later holder of a lane gets a larger one. Also the tables that the target cannot
-- take at present, as "capture:released_to ...". It runs after the lanes are locked, so that it sees what was held in
-- them, and before their rows are read, so that no row is seen without what was released before it. No number if no
-- lane was locked.
--   $1 target
-- Gives token: number, claimed_at, holds
select case when current_setting('rowrelay.locked_lanes', true) <> '' then nextval('rowrelay.claim_token') end
         as number,
       clock_timestamp() as claimed_at,
       coalesce((select string_agg(format('%s:%s', h.capture, h.released_to), ' ') from rowrelay.hold h
                  where h.target = $1::integer), '') as holds;
