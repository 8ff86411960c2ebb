-- Purpose:    puts the changes of a restored day into rowrelay.change_key, so that they can be found by key. A change
--             that is in there twice is still found once.
-- Parameters: day
-- Result:     number of changes
create or replace function rowrelay.index_day(day date) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  hashed  constant integer[] := array(select r.capture from rowrelay.row_hashing r
                                            where r.method is not null);
  indexed bigint;
begin
  perform rowrelay.key_partitions();
  insert into rowrelay.change_key (change_id, day, key_hash)
  select c.id, c.day, rowrelay.key_hash(c.capture, c.key)
    from rowrelay.change c
   where c.day = index_day.day and case when c.key is null then c.op = 't' else c.op not in ('b', 'r') end
   order by 3, 1;
  get diagnostics indexed = row_count;
  if hashed <> '{}' then
    perform rowrelay.index_rows(array_agg(c.id), array_agg(c.day), array_agg(c.capture), array_agg(c.key))
       from rowrelay.change c
      where c.day = index_day.day and c.capture = any (hashed) and c.key is not null and c.op not in ('b', 'r')
      group by c.id / 10000;
  end if;
  return indexed;
end
$$;
