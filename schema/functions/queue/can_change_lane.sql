-- Purpose:    whether rows of a capture may be in another lane than before, though their key is the same: then what takes a
--             row out of its lane (a delete, an update of the columns that choose the lane) has to be a barrier, because lanes
--             have no order among each other
-- Parameters: capture
-- Result:     true where lanes are chosen by columns that do not all belong to the key
create or replace function rowrelay.can_change_lane(capture rowrelay.capture) returns boolean
language sql immutable as $$
  select capture.key_columns <> '{}' and capture.lane_columns is not null and not capture.lane_columns <@ capture.key_columns
$$;
