-- Purpose:    where changes of a key may be: what rowrelay.change_key has, as far as the ticks go, and what the log itself
--             has from there on. It is what the calling statement's snapshot shows of them, whatever is written or indexed
--             meanwhile: an older snapshot sees an older tick, and so a longer rest. Plans are kept, because making them
--             takes longer than what they do.
-- Parameters: capture ids; key
-- Result:     changes and their partitions, each once, in no order; other keys with the same hash may be among them
create or replace function rowrelay.candidates(captures integer[], key text) returns table (change_id bigint, day date)
language plpgsql stable set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
declare
  known  rowrelay.tick;
  rest   bigint; -- the index need not have what has a larger id
  hashes integer[];
begin
  select t.* into known from rowrelay.tick t where t.indexed_to is null order by t.id desc limit 1;
  -- Of those who were writing at the tick, some may have ended since.
  rest := coalesce(least(known.low, (
    select min(w.from_id)
      from unnest(known.writers, known.writers_from) as w(xid, from_id)
     where pg_visible_in_snapshot(w.xid, pg_current_snapshot())
        -- restored from a dump: ids of transactions mean nothing
        or pg_snapshot_xmax(known.snapshot) > pg_snapshot_xmax(pg_current_snapshot()))), 0);

  hashes := array(select distinct rowrelay.key_hash(c, candidates.key) from unnest(captures) as c);
  return query
    select distinct k.change_id, k.day
      from rowrelay.key_days as span
      cross join lateral (select d::date as day from generate_series(span.first::timestamp, span.last, interval '1 day') as d
                           offset 0) as d -- a view that hides rows lets no cast through to its index
      cross join unnest(hashes) as h
      cross join lateral (select k.change_id, k.day from rowrelay.readable_key k
                           where k.day = d.day and k.key_hash = h and k.change_id <= rest offset 0) as k;
  if rowrelay.last_change_id() > rest then
    return query select r.change_id, r.day from rowrelay.candidates_since(captures, candidates.key, rest, known.open_from) as r;
  end if;
end
$$;
