-- Purpose:    whether the caller has to run rowrelay.prune(), rowrelay.drop_empty_days() and
--             rowrelay.index_closed_days(): one of them has work, and no other process took the job within the last
--             minute
create or replace function rowrelay.prune_is_due() returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform rowrelay.settle_prunings();
  if not exists (select from rowrelay.empty_days()) and not exists (select from rowrelay.empty_months())
     and not exists (select from rowrelay.history_index_work())
     and not exists (select from rowrelay.day d
                      where d.dropped_at is null
                        and d.ends_at + (select min(coalesce(c.keep, s.keep)) from rowrelay.capture c,
                                         rowrelay.source s)
                            <= clock_timestamp()) then
    return false;
  end if;
  return rowrelay.take_job('prune', '1 min');
end
$$;
