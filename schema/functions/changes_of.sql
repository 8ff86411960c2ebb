-- Purpose:    finds the changes of a key, or the truncates of a table: in rowrelay.change_key as far as the ticks go, and
--             in the log itself from there on. What is found is what the calling statement's snapshot shows of the log,
--             whatever is written or indexed meanwhile: an older snapshot sees an older tick, and so a longer rest.
-- Parameters: capture ids; key, null for truncates
-- Result:     the changes and their partitions, the newest first
create or replace function rowrelay.changes_of(captures integer[], key text) returns table (change_id bigint, day date)
language plpgsql stable set plan_cache_mode = force_custom_plan set enable_seqscan = off set jit = off as $$
declare
  known  rowrelay.tick;
  rest   bigint; -- the index need not have what has a larger id
  hashes integer[];
  ids    bigint[];
  days   date[];
begin
  select t.* into known from rowrelay.tick t where t.indexed_to is null order by t.id desc limit 1;
  -- Of those who were writing at the tick, some may have ended since.
  select coalesce(least(known.low, min(w.from_id)), 0) into rest
    from unnest(known.writers, known.writers_from) as w(xid, from_id)
   where pg_visible_in_snapshot(w.xid, pg_current_snapshot())
      -- restored from a dump: ids of transactions mean nothing
      or pg_snapshot_xmax(known.snapshot) > pg_snapshot_xmax(pg_current_snapshot());

  hashes := array(select distinct rowrelay.key_hash(c, changes_of.key) from unnest(captures) as c);
  select array_agg(distinct k.change_id order by k.change_id), array_agg(distinct k.day)
    into ids, days
    from rowrelay.key_days as span
    cross join lateral (select d::date as day from generate_series(span.first::timestamp, span.last, interval '1 day') as d
                         offset 0) as d -- a view that hides rows lets no cast through to its index
    cross join unnest(hashes) as h
    cross join lateral (select k.change_id, k.day from rowrelay.readable_key k
                         where k.day = d.day and k.key_hash = h and k.change_id <= rest offset 0) as k;
  return query
    select c.id, c.day
      from rowrelay.readable_change c
     where c.id > rest and c.day >= coalesce(known.open_from, '-infinity')
       and c.capture = any (captures)
       and case when changes_of.key is null then c.op = 't' else c.key = changes_of.key and c.op not in ('b', 'r') end
     order by c.id desc;
  -- Other keys may have the same hash.
  if ids is not null then
    return query
      select c.id, c.day
        from unnest(ids) as f(id)
        cross join lateral (select h.* from rowrelay.readable_change h where h.id = f.id and h.day = any (days) offset 0) as c
       where c.capture = any (captures)
         and case when changes_of.key is null then c.op = 't' else c.key = changes_of.key and c.op not in ('b', 'r') end
       order by c.id desc;
  end if;
end
$$;
