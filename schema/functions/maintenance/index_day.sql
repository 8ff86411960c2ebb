-- Purpose:    puts the changes of a restored day into rowrelay.change_key, so that they can be found by key. A change
--             that is in there twice is still found once.
-- Parameters: day
-- Result:     number of changes
create or replace function rowrelay.index_day(day date) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  indexed bigint;
begin
  perform rowrelay.key_partitions();
  insert into rowrelay.change_key (change_id, day, key_hash)
  select c.id, c.day, rowrelay.key_hash(c.capture, c.key)
    from rowrelay.change c
   where c.day = index_day.day and case when c.key is null then c.op = 't' else c.op not in ('b', 'r') end
   order by 3, 1;
  get diagnostics indexed = row_count;
  return indexed;
end
$$;
