-- Purpose:    whether the catalogs show the columns that choose a table's lanes as its rows have them; see
--             rowrelay.names_are_current()
-- Parameters: relation; attribute numbers
-- Result:     false also when this is unknown
create or replace function rowrelay.lanes_are_current(relation regclass, numbers smallint[]) returns boolean
language plpgsql stable as $$
declare
  is_current boolean;
begin
  execute 'select ' || coalesce(rowrelay.lane_check(relation, numbers), 'true') into is_current;
  return is_current;
end
$$;
