-- What each target is doing, as people are told of it.
create or replace view rowrelay.target_states as
select t.id as target,
       case
         when t.state <> 'running' then t.state
         when not exists (select from rowrelay.instance i
                           where rowrelay.is_alive(i.heartbeat_at) and (i.targets is null or t.id = any (i.targets)))
           then 'not running'
         when exists (select from rowrelay.trouble o where o.target = t.id) then 'failing'
         else 'running'
       end as state
  from rowrelay.target t;
comment on view rowrelay.target_states is 'what each target is doing: running, failing, not running (no process serves '
                                          'it), or as somebody, or rowrelay itself, has set it';
