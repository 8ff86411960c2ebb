-- Purpose:    puts changes into rowrelay.change_key once more, under the hash of their row, by which they are found
--             under all spellings of its key. Only changes of captures whose equal keys may have different texts need
--             it.
-- Parameters: ids, days, captures, keys: the changes
create or replace function rowrelay.index_rows(ids bigint[], days date[], captures integer[], keys text[]) returns void
language sql as $$
  insert into rowrelay.change_key (change_id, day, key_hash)
  select u.id, u.day, rowrelay.key_hash(u.capture, r.hash::text)
    from unnest(ids, days, captures, keys) as u(id, day, capture, key)
    join rowrelay.row_hashes(captures, keys) as r on r.capture = u.capture and r.key = u.key and r.hash <> 0
   order by 2, 3, 1
$$;
