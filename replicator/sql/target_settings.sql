-- What a process must know of the targets that it may serve.
--   $1 names; null: all
select t.id, t.version, t.name, t.url, t.state, t.lanes, rowrelay.lane_number(t.id, -1),
       coalesce(t.options ->> 'mode', 'mirror') = 'append',
       coalesce(t.options ->> 'on_error', 'park'),
       coalesce(t.options ->> 'batch_rows', '2000'),
       coalesce(t.options ->> 'batch_bytes', '8388608'),
       coalesce(t.options ->> 'retries', '3'),
       coalesce(t.options ->> 'push_timeout', '60'),
       coalesce((select f.floor from rowrelay.floor f where f.target = t.id), 0),
       (select s.id from rowrelay.source s),
       coalesce((select sum(i.workers) from rowrelay.instance i
                  where i.heartbeat_at > now() - interval '30 s' and (i.targets is null or t.id = any (i.targets))), 0),
       t.reason
  from rowrelay.target t
 where t.dropped_at is null and ($1::text[] is null or t.name = any ($1::text[]))
 order by t.id;
