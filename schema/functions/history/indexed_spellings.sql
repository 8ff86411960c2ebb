-- Purpose:    reads the texts of keys from the changes that rowrelay.change_key has under the hashes of their rows
-- Parameters: capture; hashes of rows; only in changes with ids greater than after_id and up to last_id
-- Result:     the texts, each once; those of other rows with the same hash may be among them
create or replace function rowrelay.indexed_spellings(capture_id integer, hashes bigint[], after_id bigint,
                                                      last_id bigint) returns text[]
language plpgsql stable set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
begin
  return array(
    select distinct h.key
      from (select l.day, lag(l.older_to) over (order by l.day desc) as last_id
              from rowrelay.key_days_from_last() as l) as d
      -- no function is pushed down through a security_barrier view to its index
      cross join (select rowrelay.key_hash(capture_id, u.hash::text) as hash
                    from unnest(hashes) as u(hash) offset 0) as w
      cross join lateral (select k.change_id from rowrelay.readable_key k
                           where k.day = d.day and k.key_hash = w.hash and k.change_id > after_id
                             and k.change_id <= indexed_spellings.last_id offset 0) as k
      cross join lateral (select c.capture, c.key from rowrelay.readable_change c
                           where c.id = k.change_id and c.day = d.day offset 0) as h
     where coalesce(d.last_id > after_id, true) and h.capture = capture_id and h.key is not null);
end
$$;
