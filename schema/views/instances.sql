-- The processes that deliver, and those that ended without removing themselves.
create or replace view rowrelay.instances as
select i.id, i.host, i.pid, i.version, i.workers,
       array(select t.name from rowrelay.target t
              where t.dropped_at is null and (i.targets is null or t.id = any (i.targets)) order by t.name) as targets,
       i.started_at,
       i.heartbeat_at,
       case when rowrelay.is_alive(i.heartbeat_at) then 'running' else 'gone' end as state,
       i.doing
  from rowrelay.instance i;
comment on view rowrelay.instances is 'processes that deliver; gone: no heartbeat for half a minute';
