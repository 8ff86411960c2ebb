-- The processes that deliver, and those that ended without removing themselves.
create or replace view rowrelay.instances as
select i.id, i.host, i.pid, i.version, i.workers,
       array(select t.name from rowrelay.target t
              where t.dropped_at is null and (i.targets is null or t.id = any (i.targets)) order by t.name) as targets,
       i.started_at,
       i.heartbeat_at,
       case when rowrelay.is_alive(i.heartbeat_at) then 'running'
            -- its number may be another session's by now; only some roles may see since when that is there
            when exists (select from pg_stat_activity a
                          where a.pid = i.backend and a.datname = current_database()
                            and (a.backend_start < i.heartbeat_at) is not false) then 'hung'
            else 'gone' end as state,
       i.doing
  from rowrelay.instance i;
comment on view rowrelay.instances is 'processes that deliver; without a heartbeat for half a minute: hung, if the '
                                      'session is still there, so it may hold lanes, else gone';
