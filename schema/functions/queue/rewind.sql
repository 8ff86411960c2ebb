-- Purpose:    must be called by whoever puts rows into the queue whose ids are older than what is being claimed: no
--             process may skip them because it has seen the lane empty up to there. The caller holds the lanes' locks,
--             so that nobody claims from them before this is committed.
-- Parameters: target; the smallest change id that was put in
create or replace function rowrelay.rewind(target integer, change_id bigint) returns void
language plpgsql as $$
begin
  update rowrelay.target t set version = t.version + 1 where t.id = rewind.target;
  update rowrelay.floor f set floor = least(f.floor, rewind.change_id - 1) where f.target = rewind.target;
  perform rowrelay.ring_doorbell();
end
$$;
