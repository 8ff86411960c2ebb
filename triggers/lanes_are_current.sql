-- Purpose:    whether the catalogs show the columns that make a capture's keys and lanes as its rows have them; see
--             rowrelay.names_are_current()
-- Parameters: capture
-- Result:     false also when this is unknown
create or replace function rowrelay.lanes_are_current(capture rowrelay.capture) returns boolean
language plpgsql stable as $$
declare
  is_current boolean;
begin
  execute 'select ' || coalesce(rowrelay.lane_check(capture), 'true') into is_current;
  return is_current;
end
$$;
