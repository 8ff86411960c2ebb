-- Purpose:    lists changes that may be of some keys: from rowrelay.change_key up to the last tick, and from the log
--             after it. The result is consistent with the calling statement's snapshot: an older snapshot sees an older
--             tick, and reads more of the log. Plans are cached, because planning takes longer than execution.
-- Parameters: capture ids; keys: of one row, in all spellings (rowrelay.spellings)
-- Result:     changes and their partitions, each once, in no order; changes of other keys with the same hash may be
--             among them
create or replace function rowrelay.candidates(captures integer[], keys text[])
returns table (change_id bigint, day date)
language plpgsql stable set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
declare
  rest     bigint; -- the index may lack changes with larger ids
  from_day date;
  hashes   integer[];
begin
  select u.up_to, u.from_day into rest, from_day from rowrelay.indexed_up_to() as u;
  hashes := array(select distinct rowrelay.key_hash(c, k) from unnest(captures) as c, unnest(keys) as k);
  return query
    select distinct k.change_id, k.day
      from rowrelay.key_days as span
      cross join lateral (select d::date as day
                          from generate_series(span.first::timestamp, span.last, interval '1 day') as d
                           offset 0) as d -- no cast is pushed down through a security_barrier view to its index
      cross join unnest(hashes) as h
      cross join lateral (select k.change_id, k.day from rowrelay.readable_key k
                           where k.day = d.day and k.key_hash = h and k.change_id <= rest offset 0) as k;
  if rowrelay.last_change_id() > rest then
    return query select r.change_id, r.day
      from rowrelay.candidates_since(captures, candidates.keys, rest, from_day) as r;
  end if;
end
$$;
