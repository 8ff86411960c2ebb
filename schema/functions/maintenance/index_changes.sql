-- Purpose:    puts a piece of a tick's changes into rowrelay.change_key: those committed by this tick and not by the
--             previous
-- Parameters: tick; the previous tick, null for none; the id after which the piece begins; rows to read at most
-- Result:     looked_at: rows that were read, fewer than max_rows in the last piece; last_id of them; first_day,
--             last_day of those that were indexed; block_ids, block_txids: see rowrelay.tick
create or replace function rowrelay.index_changes(tick rowrelay.tick, previous rowrelay.tick, after_id bigint,
                                                  max_rows integer,
                                                  out looked_at bigint, out last_id bigint, out first_day date,
                                                    out last_day date,
                                                  out block_ids int8range[], out block_txids int8range[])
language plpgsql set plan_cache_mode = force_custom_plan set enable_seqscan = off set jit = off as $$
declare
  -- Transaction ids of another era mean nothing: index a change twice rather than not at all.
  elsewhere constant boolean := coalesce(tick.era > previous.era, false);
  low       constant bigint := coalesce(previous.low, 0);
  high      constant bigint := coalesce(previous.high, 0);
  writers   constant xid8[] := coalesce(previous.writers, '{}');
  hashed    constant integer[] := array(select r.capture from rowrelay.row_hashing r
                                            where r.method is not null);
  -- changes of keys that may have other spellings
  ids       bigint[];
  days      date[];
  captures  integer[];
  keys      text[];
begin
  with looked as (
    select c.id, c.day, c.capture, c.op, c.key, c.txid
      from rowrelay.change c
     where c.id > after_id and c.id <= tick.high and c.day >= coalesce(previous.open_from, '-infinity')
     order by c.id limit max_rows
  ), fresh as (
    select l.*, l.txid::text::bigint as number
      from looked l
     where (elsewhere or pg_visible_in_snapshot(l.txid, tick.snapshot))
       and (l.id > low or l.txid = any (writers))
       and (l.id > high or not pg_visible_in_snapshot(l.txid, previous.snapshot))
  ), indexed as (
    insert into rowrelay.change_key (change_id, day, key_hash)
    select f.id, f.day, rowrelay.key_hash(f.capture, f.key)
      from fresh f
     where case when f.key is null then f.op = 't' else f.op not in ('b', 'r') end
     order by 2, 3, 1
  ), block as (
    select int8range(min(f.id), max(f.id), '[]') as ids, int8range(min(f.number), max(f.number), '[]') as txids
      from fresh f group by f.id / 512
  ), respelled as (
    select array_agg(f.id) as ids, array_agg(f.day) as days, array_agg(f.capture) as captures, array_agg(f.key) as keys
      from fresh f
     where hashed <> '{}' and f.capture = any (hashed) and f.key is not null and f.op not in ('b', 'r')
  )
  select l.looked_at, l.last_id, f.first_day, f.last_day, b.ids, b.txids, r.ids, r.days,
         r.captures, r.keys
    into index_changes.looked_at, index_changes.last_id, index_changes.first_day, index_changes.last_day,
      index_changes.block_ids, index_changes.block_txids, ids, days, captures, keys
    from (select count(*) as looked_at, max(id) as last_id from looked) as l,
         (select min(f.day) as first_day, max(f.day) as last_day from fresh f) as f,
         (select array_agg(b.ids order by b.ids) as ids, array_agg(b.txids order by b.ids) as txids from block b) as b,
         respelled r;
  if ids is not null then
    perform rowrelay.index_rows(ids, days, captures, keys);
  end if;
end
$$;
