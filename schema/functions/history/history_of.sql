-- Purpose:    returns the history of one row by its key, with what each change did. Where a change has no image before,
--             or not all of it, the row's previous change supplies it.
-- Parameters: relation; key, in any spelling: the text of a single column, a JSON array of several
-- Result:     rows of rowrelay.history, the newest first, with truncates of the table since the oldest
-- Errors:     the table was never captured
create or replace function rowrelay.history_of(relation regclass, key text) returns setof rowrelay.history
language plpgsql stable set plan_cache_mode = force_custom_plan set enable_seqscan = off set jit = off as $$
declare
  captures constant integer[] := array(select c.id from rowrelay.capture c where c.relation = history_of.relation);
  keys     text[]; -- all spellings
  ids      bigint[];
  days     date[];
  line     record;
  entry    rowrelay.history;
begin
  if captures = '{}' then
    raise exception 'table % was never captured', relation
      using errcode = 'undefined_object',
        hint = 'Capture it first: '
                 || rowrelay.command('rowrelay capture %s', 'select rowrelay.capture_table(%L);', relation::text);
  end if;
  for spelling in 1 .. 2 loop
    keys := rowrelay.spellings(captures, array[history_of.key]);
    -- the rows are read anyway, and show which changes belong to other keys with the same hash
    with own as materialized (
      select f.change_id, f.day from rowrelay.candidates(captures, keys) as f
    ), found as (
      select o.change_id, o.day from own o
      union all
      select t.change_id, t.day from rowrelay.truncates_of(history_of.relation) as t
       where t.change_id > (select min(o.change_id) from own o)
    )
    select array_agg(f.change_id), array_agg(f.day) into ids, days from found f;
    exit when ids is not null;
    key := rowrelay.key_as_logged(relation, key);
  end loop;

  for line in
    select h as entry,
           -- a truncate may have been of a partition that did not hold the row
           lag(case when h.op <> 'truncate' then h.new_row end)
             over (partition by h.op = 'truncate' and h.new_row is not null order by h.change_id) as was,
           bool_or(h.op <> 'truncate') over (order by h.change_id) as was_there
      from rowrelay.history_at(ids, days) as h
     where h.relation = history_of.relation
       and (h.op = 'truncate' or h.key = any (keys) and h.op not in ('barrier', 'refresh'))
     order by h.change_id desc
  loop
    exit when not line.was_there; -- only earlier truncates remain
    entry := line.entry;
    if entry.op = 'update' and (entry.old_row is null or exists (
         select json_object_keys(entry.new_row) except select json_object_keys(entry.old_row))) then
      entry.changed := rowrelay.changed(line.was, entry.new_row);
    end if;
    return next entry;
  end loop;
end
$$;
