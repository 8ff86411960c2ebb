-- Purpose:    whether a row of a capture can change its lane while its key stays: then a change that takes a row out of
--             its lane (a delete, an update of the columns that choose the lane) has to be a barrier, because lanes are
--             not ordered among each other
-- Parameters: capture
-- Result:     true where a column that chooses the lane is not part of the key
create or replace function rowrelay.can_change_lane(capture rowrelay.capture) returns boolean
language sql immutable as $$
  select capture.key_columns <> '{}' and capture.lane_columns is not null
    and not capture.lane_columns operator(pg_catalog.<@) capture.key_columns
$$;
