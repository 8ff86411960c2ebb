-- Purpose:    deletes receipts and ticks of dropped changes, some at a time. Ticks stay while their day has an archive,
--             so that its changes can be found after it is restored.
create or replace function rowrelay.prune_rest() returns void
language plpgsql as $$
declare
  piece constant integer := 10000;
  oldest_id bigint;
  day       record;
  found_id  bigint;
begin
  if not exists (select from rowrelay.day d where d.dropped_at is not null) then
    return;
  end if;
  -- Restored days do not count: their receipts are already gone.
  for day in
    select p.partition from rowrelay.partition_days() p
     where not exists (select from rowrelay.day d where d.day = p.day and d.dropped_at is not null)
     order by p.day
  loop
    execute format('select min(c.id) from %s c', day.partition) into found_id;
    oldest_id := least(oldest_id, found_id);
  end loop;
  oldest_id := coalesce(oldest_id, (select max(d.last_id) from rowrelay.day d where d.dropped_at is not null));
  delete from rowrelay.receipt r
   where r.ctid = any (array(select o.ctid from rowrelay.receipt o
                              where int8range(o.first_id, o.last_id, '[]') << int8range(oldest_id, null)
                                and o.settled_at < now() - interval '1 day'
                               order by o.token limit piece));
  delete from rowrelay.tick t
   where t.id in (select o.id from rowrelay.tick o
                   where o.id < (select max(k.id) from rowrelay.tick k
                                  where k.high < least(oldest_id, (select min(d.first_id) from rowrelay.day d
                                                                              where d.archived_at is not null)))
                   order by o.id limit piece);
end
$$;
