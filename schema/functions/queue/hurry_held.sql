-- Purpose:    retries at once tables that targets could not take: a part of rowrelay.retry()
-- Parameters: target (null: all); ids of waiting changes of these tables (null: all)
-- Result:     how many of these changes will be tried: first one, then the others
create or replace function rowrelay.hurry_held(target text, change_ids bigint[]) returns bigint
language plpgsql as $$
declare
  waiting bigint;
begin
  with chosen as (
    select f.target, f.capture, count(*) as n
      from rowrelay.refusal f
      join rowrelay.target t on t.id = f.target and t.dropped_at is null
     where f.state = 'waiting'
       and (hurry_held.target is null or t.name = hurry_held.target)
       and (change_ids is null or f.change_id = any (change_ids))
     group by f.target, f.capture
  ), hurried as (
    update rowrelay.hold h set retry_at = clock_timestamp()
      from chosen c where h.target = c.target and h.capture = c.capture
  )
  select coalesce(sum(c.n), 0) into waiting from chosen c;
  if waiting > 0 then
    perform rowrelay.ring_doorbell();
  end if;
  return waiting;
end
$$;
