-- What a process must know of the targets that it may serve. A document is one, with the URL and the options of the target
-- that it goes to.
--   $1 names; null: all
select t.id, t.version, t.name, coalesce(p.url, t.url), t.state, t.lanes, rowrelay.lane_number(t.id, -1),
       coalesce(o.options ->> 'mode', 'mirror') = 'append',
       coalesce(o.options ->> 'on_error', 'park'),
       coalesce(o.options ->> 'batch_rows', '2000'),
       coalesce(o.options ->> 'batch_bytes', '8388608'),
       coalesce(o.options ->> 'retries', '3'),
       coalesce(o.options ->> 'push_timeout', '60'),
       coalesce((select f.floor from rowrelay.floor f where f.target = t.id), 0),
       (select s.id from rowrelay.source s),
       coalesce((select sum(i.workers) from rowrelay.instance i
                  where rowrelay.is_alive(i.heartbeat_at) and (i.targets is null or t.id = any (i.targets))), 0),
       t.reason,
       p.id is not null,
       o.options,
       -- a document is read in the transaction that claims it, and so is what goes into the source itself
       p.id is null and (o.options ->> 'claim' = 'lease' or o.options ->> 'guarantee' = 'at-most-once'),
       coalesce(o.options ->> 'lease', '120'),
       p.id is null and coalesce(o.options ->> 'guarantee', '') = 'at-most-once',
       exists (select from rowrelay.trouble w where w.target = t.id),
       exists (select from rowrelay.hold h where h.target = t.id)
  from rowrelay.target t
  left join (rowrelay.document d join rowrelay.target p on p.id = d.delivers_to) on d.target = t.id
  cross join lateral (select coalesce(p.options, '{}') || t.options as options) as o
 where t.dropped_at is null
   and ($1::text[] is null or t.name = any ($1::text[]) or p.name = any ($1::text[]))
 order by t.id;
