-- Purpose:    lists the changes of a row by its key
-- Parameters: relation; key, in any spelling: the text of a single column, a JSON array of several
-- Result:     the changes and their partitions, the newest first; truncates are not among them
create or replace function rowrelay.changes_of_key(relation regclass, key text)
  returns table (change_id bigint, day date)
language plpgsql stable set plan_cache_mode = force_custom_plan set enable_seqscan = off set jit = off as $$
declare
  captures constant integer[] := array(select c.id from rowrelay.capture c where c.relation = changes_of_key.relation);
  keys     text[]; -- all spellings
  ids      bigint[];
  days     date[];
  all_days date[]; -- for the planner, so that it leaves out other partitions, of which there may be years
begin
  if changes_of_key.key is null then
    return;
  end if;
  for spelling in 1 .. 2 loop
    keys := rowrelay.spellings(captures, array[changes_of_key.key]);
    select array_agg(f.change_id), array_agg(f.day), array_agg(distinct f.day) into ids, days, all_days
      from rowrelay.candidates(captures, keys) as f;
    exit when ids is not null;
    key := rowrelay.key_as_logged(relation, key);
  end loop;
  if ids is not null then
    return query
      select c.id, c.day
        from unnest(ids, days) as f(id, day)
        cross join lateral (select h.* from rowrelay.readable_change h
                             where h.id = f.id and h.day = f.day and h.day = any (all_days) offset 0) as c
       where c.capture = any (captures) and c.key = any (keys) and c.op not in ('b', 'r')
       order by c.id desc;
  end if;
end
$$;
