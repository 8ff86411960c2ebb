-- Purpose:    lets the past of tables whose log began, or was pruned, while the clock was ahead begin now. Else it
--             would have none until that time has come. The caller holds the lock of rowrelay.lock_configuration().
create or replace function rowrelay.bound_log_since() returns void
language plpgsql as $$
declare
  this_moment constant timestamptz := clock_timestamp();
  latest      constant timestamptz := this_moment + interval '1 min'; -- what others record now is no later
begin
  -- how much later the log was pruned stays
  update rowrelay.shape s set noticed_at = s.noticed_at - (c.log_since - this_moment)
    from rowrelay.capture c
   where c.id = s.capture and c.log_since > latest and s.begins and s.noticed_at > latest;
  update rowrelay.capture c set log_since = this_moment where c.log_since > latest;
end
$$;
