-- Purpose:    takes a lock with a timeout, for work that one process may do at a time: one conditional update by the
--             server's clock
-- Parameters: name of the work; for how long nobody else may begin it, the same at each call for that work
-- Result:     true: the caller has to do it
create or replace function rowrelay.take_job(job_name text, hold_for interval) returns boolean
language plpgsql as $$
begin
  insert into rowrelay.job as j (name, taken_at, held_until)
  values (job_name, clock_timestamp(), clock_timestamp() + hold_for)
  on conflict (name) do update
    set taken_at = excluded.taken_at, held_until = excluded.held_until
    -- a job held for longer than that was taken while the clock was ahead
    where j.held_until not between clock_timestamp() and clock_timestamp() + hold_for;
  return found;
end
$$;
