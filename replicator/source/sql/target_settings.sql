-- What a process must know of the targets that it may serve. A document counts as a target, with the URL and options of
-- the target that it is delivered to.
--   $1 names; null: all
--   $2 number; null: any
-- Gives settings: target, version, name, url, state, lanes, first_lane, append, on_error, batch_rows, batch_bytes,
--   retries, push_timeout, floor, source_id, workers, reason, is_document, options, is_leased, lease, at_most_once,
--   is_failing, has_holds, is_restored
select t.id as target,
       t.version,
       t.name,
       u.url,
       t.state,
       t.lanes,
       rowrelay.lane_number(t.id, -1) as first_lane,
       coalesce(s.options ->> 'mode', '') = 'append' as append,
       s.options ->> 'on_error' as on_error,
       s.options ->> 'batch_rows' as batch_rows,
       s.options ->> 'batch_bytes' as batch_bytes,
       s.options ->> 'retries' as retries,
       s.options ->> 'push_timeout' as push_timeout,
       coalesce((select f.floor from rowrelay.floor f where f.target = t.id), 0) as floor,
       (select s.id from rowrelay.source s) as source_id,
       coalesce((select sum(i.workers) from rowrelay.instance i
                  where rowrelay.is_alive(i.heartbeat_at) and (i.targets is null or t.id = any (i.targets))), 0)
         as workers,
       t.reason,
       p.id is not null as is_document,
       o.options,
       -- a document is read in the transaction that claims it, and so is what goes into the source itself
       p.id is null and (s.options ->> 'claim' = 'lease' or s.options ->> 'guarantee' = 'at-most-once') as is_leased,
       s.options ->> 'lease' as lease,
       p.id is null and s.options ->> 'guarantee' = 'at-most-once' as at_most_once,
       exists (select from rowrelay.trouble w where w.target = t.id) as is_failing,
       exists (select from rowrelay.hold h where h.target = t.id) as has_holds,
       (select rowrelay.another_life() is not null) as is_restored
  from rowrelay.target t
  left join (rowrelay.document d join rowrelay.target p on p.id = d.delivers_to) on d.target = t.id
  cross join lateral (select coalesce(p.url, t.url) as url) as u
  cross join lateral (select coalesce(p.options, '{}') || t.options as options) as o
  cross join lateral (select (select k.defaults from rowrelay.target_kind(u.url) as k) || o.options as options) as s
 where t.dropped_at is null
   and ($1::text[] is null or t.name = any ($1::text[]) or p.name = any ($1::text[]))
   and ($2::integer is null or t.id = $2)
 order by t.id;
