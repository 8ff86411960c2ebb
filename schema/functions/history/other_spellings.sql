-- Purpose:    finds other spellings of keys in the log of a capture whose equal keys may have different texts. The
--             index (rowrelay.change_key) has its changes under the hash of the row too; where it does not, the log is
--             read.
-- Parameters: capture; keys; after_id: only in changes with larger ids
-- Result:     pairs of one of the keys and another text in the log that equals it; only of what the caller may read
create or replace function rowrelay.other_spellings(capture_id integer, keys text[], after_id bigint)
returns table (key text, spelling text)
language plpgsql stable set plan_cache_mode = force_custom_plan set enable_seqscan = off set jit = off as $$
declare
  hashes   bigint[];
  known    text[]; -- those of the keys that have a hash
  rest     bigint; -- the index may lack changes with larger ids
  from_day date;
  unhashed bigint; -- and has those up to this id only by their texts
  first_id bigint;
  logged   text[];
begin
  select array_agg(r.key), array_agg(r.hash) into known, hashes
    from rowrelay.row_hashes(array_fill(capture_id, array[cardinality(keys)]), keys) as r where r.hash <> 0;
  if known is null then
    return;
  end if;
  select u.up_to, u.from_day into rest, from_day from rowrelay.indexed_up_to() as u;
  unhashed := coalesce((select r.above_id
                          from rowrelay.row_hashing r join rowrelay.capture c on c.id = r.capture
                         where r.capture = capture_id and r.method = rowrelay.hash_method(c)), rest);
  if rest > greatest(unhashed, after_id) then
    logged := rowrelay.indexed_spellings(capture_id, hashes, greatest(unhashed, after_id), rest);
  end if;
  if unhashed > after_id then
    logged := logged || array(select distinct h.key from rowrelay.readable_change h
                               where h.capture = capture_id and h.key is not null
                                 and h.id > after_id and h.id <= unhashed);
  end if;
  first_id := greatest(rest, unhashed, after_id);
  if rowrelay.last_change_id() > first_id then
    logged := logged || array(select distinct h.key from rowrelay.readable_change h
                               where h.capture = capture_id and h.key is not null
                                 and h.id > first_id and h.day >= coalesce(from_day, '-infinity'));
  end if;
  if logged <> '{}' then
    return query
      select k.key, r.key
        from rowrelay.row_hashes(array_fill(capture_id, array[cardinality(logged)]), logged) as r
        join unnest(known, hashes) as k(key, hash) on k.hash = r.hash and k.key <> r.key
       where rowrelay.is_same_key(capture_id, k.key, r.key);
  end if;
end
$$;
