-- Purpose:    where the changes of a table stand that is just being copied to a target as a whole: in a waiting room, a set of
--             lanes of its own from which nobody delivers, until it is known which of them the copy has.
--             A function that is there only meanwhile tells of it, because PostgreSQL looks up functions by what is
--             committed at this moment. A row in a table would be seen as it was when the writer's transaction began, if
--             that is a repeatable read.
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
