-- Purpose:    switches a backfill from copying the table as a whole to copying it piece by piece; cancels it if that is
--             not possible. Changes in the waiting room leave it again.
-- Parameters: number of the backfill, of which nothing counts as copied; why, for people
create or replace function rowrelay.copy_abandon(backfill_id integer, why text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  b       rowrelay.backfill;
  capture rowrelay.capture;
begin
  select k.* into strict b from rowrelay.backfill k where k.id = backfill_id for update;
  select c.* into strict capture from rowrelay.capture c where c.id = b.capture;
  if b.give_up is null then
    begin
      perform rowrelay.check_pieces(capture);
    exception when object_not_in_prerequisite_state then
      b.give_up := format('%s; and %s', why, sqlerrm);
    end;
  end if;
  update rowrelay.backfill k
     set way = 'pieces', snapshot = null, give_up = b.give_up, waits_for = null, waits_since = null,
         note = coalesce(b.give_up, format('not as a whole: %s', why)), rows_read = 0,
         state = case when b.state <> 'waiting' then 'joining' when b.give_up is not null then 'cancelled'
           else 'waiting' end,
         finished_at = case when b.state = 'waiting' and b.give_up is not null then clock_timestamp() end
   where k.id = backfill_id and k.state in ('waiting', 'copying', 'joining');
end
$$;
