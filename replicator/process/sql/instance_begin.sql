-- Registers this process; gives which installation that is.
--   $1 id  $2 host  $3 process id  $4 version  $5 workers for each target  $6 names of targets; null: all
insert into rowrelay.instance (id, host, pid, backend, version, workers, targets)
values ($1::uuid, $2, $3::integer, pg_backend_pid(), $4, $5::integer,
        (select array_agg(t.id)
           from rowrelay.target t
           left join (rowrelay.document d join rowrelay.target p on p.id = d.delivers_to) on d.target = t.id
          where t.dropped_at is null and (t.name = any ($6::text[]) or p.name = any ($6::text[]))))
on conflict (id) do update set heartbeat_at = now(), backend = excluded.backend
returning (select s.id from rowrelay.source s);
