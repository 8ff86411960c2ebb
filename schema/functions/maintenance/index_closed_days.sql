-- Purpose:    creates one index that is wanted on a closed day, or drops one that is no longer wanted. Nobody writes
--             into such a day, so nobody waits meanwhile. Call it in a transaction of its own, which holds its locks to
--             the end.
-- Result:     one text that says what was done; none: nothing is left to do, or another session does it or has the
--             locks
create or replace function rowrelay.index_closed_days() returns setof text
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '100ms' as $$
declare
  work record;
begin
  perform from rowrelay.mutex m where m.name = 'index' for update skip locked;
  if not found then
    return;
  end if;
  for work in select w.* from rowrelay.history_index_work() w order by w.wanted nulls first, w.day desc loop
    begin
      if work.wanted is null then
        execute format('drop index rowrelay.%I', work.name);
        return next format('dropped index %s', work.name);
      else
        execute format('create index %I on %s using %I ((%s)) where (%s) is not null', work.name, work.partition,
                       work.method,
                       work.expression, work.expression);
        -- the planner needs statistics of the expression
        execute format('analyze %s', work.partition);
        return next format('indexed day %s by %s', work.day, work.expression);
      end if;
      return;
    exception
      when lock_not_available then
        null; -- try another day
      when query_canceled then
        raise;
      when others then
        update rowrelay.history_index x
           set failed = x.failed || work.day, problem = format('day %s: %s', work.day, sqlerrm)
         where x.id = work.wanted;
        return next format('day %s cannot be indexed by %s: %s', work.day, work.expression, sqlerrm);
        return;
    end;
  end loop;
end
$$;
