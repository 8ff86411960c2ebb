-- Purpose:    queues changes again that wait behind a refused one that is not there any more. It may have gone while
--             they were set aside: what is sent at most once counts as refused until it is known to have arrived, which
--             may be after its lease has ended. rowrelay.maintain() calls it.
-- Result:     number of changes that were queued again. Those whose lanes are in use wait for the next call.
create or replace function rowrelay.free_blocked() returns bigint
language plpgsql set lock_timeout = '1s' as $$
declare
  orphans record;
  freed   bigint := 0;
begin
  for orphans in
    select t.name, array_agg(b.change_id) as ids
      from rowrelay.refusal b
      join rowrelay.target t on t.id = b.target
     where b.state = 'blocked'
       and not exists (select from rowrelay.refusal f
                        where f.target = b.target and f.capture = any (rowrelay.captures_alike(b.capture))
                          and (f.row_hash in (b.row_hash, 0) or b.row_hash = 0)
                          and f.state = 'error' and f.change_id < b.change_id)
       and not exists (select from rowrelay.lease e
                        where e.lane in (b.lane, rowrelay.lane_number(b.target, -1))
                          and e.lease_until > clock_timestamp())
     group by t.name
  loop
    begin
      freed := freed + rowrelay.retry(orphans.name, orphans.ids);
    exception when lock_not_available then
      null;
    end;
  end loop;
  return freed;
end
$$;
