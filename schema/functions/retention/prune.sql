-- Purpose:    drops changes that have been kept for long enough: whole days where all tables allow it, else the changes
--             of single tables from closed days, a piece at a time. Never touches a day with changes that are
--             undelivered, refused, or waiting until a table is copied. Running processes call it every minute.
-- Parameters: how long to keep tables without a setting of their own (null: as rowrelay.keep() says for the log);
--             force: discard undelivered changes; restored: drop restored days too; how many days to drop at most
-- Result:     one row for each day that is old enough: outcome 'dropped', 'deleting' (call it again), 'deleted' (of
--             some tables), 'kept', 'busy' or 'more' (call it again); why; and whether that is new
-- Errors:     the transaction is not READ COMMITTED
create or replace function rowrelay.prune(older_than interval default null, force boolean default false,
                                          restored boolean default false, most integer default 10)
returns table (day date, outcome text, note text, is_news boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  shortest interval;
  known    text;
  old_day  rowrelay.day;
  may_go   integer[];
  dropped  integer := 0;
begin
  perform rowrelay.settle_prunings();
  perform rowrelay.close_days();
  select min(coalesce(c.keep, older_than, s.keep)) into shortest from rowrelay.capture c, rowrelay.source s;
  for old_day in
    select d.* from rowrelay.day d
     where d.ends_at + shortest <= clock_timestamp()
       and d.day in (select p.day from rowrelay.partition_days() p)
       and case when d.restored_at is null then d.dropped_at is null else prune.restored end
     order by d.day
       for update skip locked
  loop
    may_go := rowrelay.prune_captures(old_day.ends_at, older_than);
    known := old_day.note;
    if old_day.captures is null and exists (select from rowrelay.capture c where c.id <> all (may_go)) then
      execute format(
          'update rowrelay.day d set captures = array(select distinct c.capture from %s c) where d.day = $1 '
          'returning d.*',
                     'rowrelay.change_' || to_char(old_day.day, 'YYYYMMDD')) using old_day.day into old_day;
    end if;
    if old_day.captures is null or old_day.captures <@ (may_go || old_day.gone) then
      if dropped >= most then
        return query select old_day.day, 'more', null::text, false;
        return;
      end if;
      select p.outcome, p.note into outcome, note from rowrelay.prune_day(old_day.day, force) as p;
    elsif old_day.deleting is null
      and not old_day.captures && array(select unnest(may_go) except select unnest(old_day.gone)) then
      continue;
    else
      select p.outcome, p.note into outcome, note
        from rowrelay.delete_from_day(old_day, array(select unnest(may_go) except select unnest(old_day.gone))) as p;
    end if;
    day := old_day.day;
    dropped := dropped + (outcome in ('dropped', 'deleting'))::integer;
    is_news := outcome in ('dropped', 'deleted') or (outcome = 'kept' and known is distinct from note);
    if outcome = 'kept' and is_news then
      update rowrelay.day d set note = prune.note where d.day = old_day.day;
    end if;
    return next;
  end loop;
  perform rowrelay.prune_rest();
end
$$;
