-- Purpose:    has to be called after queueing changes with older ids than those being claimed: processes remember up to
--             which id a lane is empty, and would skip them. The caller holds the lanes' locks, so that nobody claims
--             from them before it commits.
-- Parameters: target; the smallest change id that was queued
create or replace function rowrelay.rewind(target integer, change_id bigint) returns void
language plpgsql as $$
begin
  update rowrelay.target t set version = t.version + 1 where t.id = rewind.target;
  update rowrelay.floor f set floor = least(f.floor, rewind.change_id - 1) where f.target = rewind.target;
  perform rowrelay.ring_doorbell();
end
$$;
