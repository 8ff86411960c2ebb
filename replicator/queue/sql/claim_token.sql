-- Gives a new claim its number: a later holder of a lane gets a larger one. It runs when the lanes are locked and their
-- rows were read. So a claim that has passed a barrier in front of these rows has a smaller number, whenever that was.
-- No number if no lane was locked.
-- Gives token: number
select case when current_setting('rowrelay.locked_lanes', true) <> '' then nextval('rowrelay.claim_token') end
         as number;
