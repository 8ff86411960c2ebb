-- What each target is doing, as people are told of it.
create or replace view rowrelay.target_states as
select t.id as target,
       case
         when t.state <> 'running' then t.state
         when (select rowrelay.another_life()) is not null then 'not running'
         when not exists (select from rowrelay.instance i
                           where rowrelay.is_alive(i.heartbeat_at) and (i.targets is null or t.id = any (i.targets)))
           then 'not running'
         when o.target is not null then 'failing'
         else 'running'
       end as state
  from rowrelay.target t
  left join rowrelay.trouble o on o.target = t.id;
comment on view rowrelay.target_states is
  'what each target is doing: running, failing, not running (no process serves it, or nothing is delivered from this '
  'database, see rowrelay.another_life()), or as somebody, or rowrelay itself, has set it';
