-- Purpose:    finds the few changes that determine what the row with one spelling of a key was at a time: the last one
--             that counts and the first one that does not. Queries then read only these, not all partitions in which
--             the row was ever changed.
-- Parameters: as for rowrelay.past_of_key(); key: in this spelling only
-- Result:     the same
create or replace function rowrelay.past_of_spelling(capture rowrelay.capture, after_id bigint, log_since timestamptz,
                                                     at timestamptz, seen pg_snapshot, key text,
                                                     out ids bigint[], out days date[], out unfinished xid8[])
language plpgsql stable set plan_cache_mode = force_custom_plan set enable_seqscan = off set jit = off as $$
declare
  found_ids  bigint[];
  found_days date[];
  all_days   date[]; -- for the planner, so that it leaves out other partitions, of which there may be years
  change     record;
  is_settled boolean := seen is not null; -- all unfinished transactions are known
  chosen     bigint[] := '{null,null,null,null}'; -- first and last; then first and last of those with the row's values
  on_days    date[] := '{null,null,null,null}';
begin
  unfinished := '{}';
  select array_agg(f.change_id), array_agg(f.day), array_agg(distinct f.day) into found_ids, found_days, all_days
    from rowrelay.candidates(array[(past_of_spelling.capture).id], array[past_of_spelling.key]) as f;
  for change in
    select h.id, h.day, h.txid, h.captured_at, h.says
      from unnest(found_ids, found_days) as f(id, day)
      cross join lateral (
        select c.*,
               c.op in ('i', 'u') or c.op = 's' and c.new_row is not null or c.op = 'd'
                 and c.caveat -> 'target' is null as says
          from rowrelay.readable_change c
         where c.id = f.id and c.day = f.day and c.day = any (all_days) offset 0) as h
     where h.id > after_id and h.capture = (past_of_spelling.capture).id and h.key = past_of_spelling.key
       and h.op in ('i', 'u', 'd', 's')
     order by h.id desc
  loop
    if not is_settled and change.captured_at <= at and change.txid <> all (unfinished) then
      if rowrelay.is_unfinished(change.txid, at) then
        unfinished := unfinished || change.txid;
      else
        is_settled := true; -- transactions of earlier changes had ended before it wrote
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
