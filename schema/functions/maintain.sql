-- Purpose:    what has to be done now and then; running processes call it, one of them at a time
-- Result:     what was done, one text each; none is nothing
create or replace function rowrelay.maintain() returns setof text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  n       bigint;
  capture rowrelay.capture;
  dropped integer;
begin
  if not rowrelay.take_job('maintain', '30 s') then
    return;
  end if;

  begin
    n := rowrelay.maintain_partitions();
    if n > 0 then
      return next format('made %s partitions of rowrelay.change', n);
    end if;
  exception when lock_not_available then
    null; -- there are partitions for days ahead, and the next run is soon
  end;
  perform rowrelay.close_days();

  for capture in
    select c.* from rowrelay.capture c
     where c.released_at is null
       and c.column_state is distinct from rowrelay.column_state(c)
       and exists (select from pg_class r where r.oid = c.relation)
       for update skip locked
  loop
    begin
      perform rowrelay.make_trigger_function(capture.id, '1 s');
      return next format('table %s was altered: its trigger function is made anew', capture.relation);
    exception when lock_not_available then
      null; -- until it can be, changes are captured the slow way
    end;
  end loop;

  -- partitions and children that have come since
  for capture in
    select c.* from rowrelay.capture c
     where c.released_at is null
       and exists (select from unnest(rowrelay.captured_tables(c)) as m
                    where not exists (select from rowrelay.own_triggers(c) o
                                       where o.relation = m and o.name <> '!rowrelay_truncate' and o.is_always)
                       or not exists (select from rowrelay.own_triggers(c) o
                                       where o.relation = m and o.name = '!rowrelay_truncate' and o.is_always))
       for update skip locked
  loop
    begin
      -- a child that was captured by itself, and goes on so
      perform rowrelay.check_overlap(capture.relation);
      n := rowrelay.attach_triggers(capture, false, '0 s');
      return next format('table %s: %s triggers attached', capture.relation, n);
    exception when others then
      return next format('table %s: triggers are missing, and could not be attached: %s', capture.relation, sqlerrm);
    end;
  end loop;

  -- what a writer still added, or a process gave back, when its target was being dropped
  for dropped in select t.id from rowrelay.target t where t.dropped_at > now() - interval '1 day' loop
    delete from rowrelay.queue q
     where q.ctid = any (array(select u.ctid from rowrelay.queue u
                                where u.lane between rowrelay.lane_number(dropped, -1) and rowrelay.lane_number(dropped, 1023)
                                limit 10000 for update skip locked));
  end loop;
  -- and what a writer added while the copying of its table was ended
  delete from rowrelay.queue q
   using rowrelay.backfill b
   where b.state = 'cancelled' and b.finished_at > now() - interval '1 day'
     and q.lane between -2048 * (b.id + 1) and -2048 * (b.id + 1) + 1024;
  delete from rowrelay.instance i where i.heartbeat_at < now() - interval '1 day';
end
$$;
