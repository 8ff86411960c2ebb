-- Purpose:    of the changes of one row, the few on which it depends what the row was at a moment: the last that had
--             happened, and the first that had not. Everything else is then asked of these, and not of all partitions
--             in which the row was ever changed.
-- Parameters: capture; after_id: changes up to this id do not count; log_since: what had happened is told only by changes
--             that were captured since; at: a time, or null; seen: a snapshot, or null; key
-- Result:     ids and days of these changes; unfinished: see rowrelay.counts_at()
create or replace function rowrelay.past_of_key(capture rowrelay.capture, after_id bigint, log_since timestamptz, at timestamptz,
                                                seen pg_snapshot, key text,
                                                out ids bigint[], out days date[], out unfinished xid8[])
language plpgsql stable set plan_cache_mode = force_custom_plan set enable_seqscan = off set jit = off as $$
declare
  found      bigint[];
  found_days date[];
  all_days   date[]; -- for the planner, so that it leaves out other partitions, of which there may be years
  change     record;
  is_settled boolean := seen is not null; -- whether the unfinished are all known
  chosen     bigint[] := '{null,null,null,null}'; -- first and last; and again of those that say what the row is
  on_days    date[] := '{null,null,null,null}';
begin
  unfinished := '{}';
  select array_agg(f.change_id), array_agg(f.day), array_agg(distinct f.day) into found, found_days, all_days
    from rowrelay.candidates(array[(past_of_key.capture).id], past_of_key.key) as f;
  for change in
    select h.id, h.day, h.txid, h.captured_at, h.says
      from unnest(found, found_days) as f(id, day)
      cross join lateral (
        select c.*,
               c.op in ('i', 'u') or c.op = 's' and c.new_row is not null or c.op = 'd' and c.caveat -> 'target' is null as says
          from rowrelay.readable_change c
         where c.id = f.id and c.day = f.day and c.day = any (all_days) offset 0) as h
     where h.id > after_id and h.capture = (past_of_key.capture).id and h.key = past_of_key.key and h.op in ('i', 'u', 'd', 's')
     order by h.id desc
  loop
    if not is_settled and change.captured_at <= at and change.txid <> all (unfinished) then
      if rowrelay.is_unfinished(change.txid, at) then
        unfinished := unfinished || change.txid;
      else
        is_settled := true; -- those before were over when it wrote
      end if;
    end if;
    for n in 1..case when change.says then 2 else 1 end loop
      if not (case when seen is not null then pg_visible_in_snapshot(change.txid, seen)
                   else change.captured_at <= at and change.txid <> all (unfinished) end) then
        chosen[n * 2 - 1] := change.id;
        on_days[n * 2 - 1] := change.day;
      elsif chosen[n * 2] is null and change.captured_at >= log_since then
        chosen[n * 2] := change.id;
        on_days[n * 2] := change.day;
      end if;
    end loop;
  end loop;
  ids := array(select distinct c from unnest(chosen) as c where c is not null);
  days := array(select distinct d from unnest(on_days) as d where d is not null);
end
$$;
