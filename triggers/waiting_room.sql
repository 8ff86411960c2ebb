-- Purpose:    finds the waiting room for changes of a table that is being copied to a target as a whole: a set of lanes
--             from which nobody delivers, until it is known which of these changes the copy includes. A function that
--             exists only during the copy marks it, because PostgreSQL looks up functions by the latest committed
--             catalogs. A repeatable read transaction would see a row in a table as it was when it began.
-- Parameters: capture; target
-- Result:     what to add to the number of one of the target's lanes; 0: the table is not being copied
create or replace function rowrelay.waiting_room(capture integer, target integer) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  room integer := 0;
begin
  if to_regproc(format('rowrelay.copies_%s_%s', capture, target)) is not null then
    execute format('select rowrelay.%I()', format('copies_%s_%s', capture, target)) into room;
  end if;
  return room;
end
$$;
