-- Every change, and what has become of it at each target.
create or replace view rowrelay.history as
select h.id as change_id,
       c.relation,
       case h.op when 'i' then 'insert' when 'u' then 'update' when 'd' then 'delete' when 't' then 'truncate'
                 else 'snapshot' end as op,
       h.key,
       h.old_row,
       h.new_row,
       h.captured_at,
       h.txid,
       h.actor,
       (select jsonb_object_agg(t.name,
                 case
                   when exists (select from rowrelay.refusal f where f.target = r.target and f.change_id = h.id) then 'error'
                   when not exists (select from rowrelay.queue q where q.target = r.target and q.change_id = h.id
                                       and q.lane between -1 and t.lanes) then 'complete'
                   when exists (select from rowrelay.queue q
                                  join pg_locks l on l.locktype = 'advisory' and l.classid = 1919907698
                                   and l.objid = rowrelay.lane_lock_key(q.target, q.lane) and l.granted
                                 where q.target = r.target and q.change_id = h.id) then 'in-progress'
                   else 'new'
                 end)
          from rowrelay.route r
          join rowrelay.target t on t.id = r.target
         where r.capture = h.capture and h.id > r.from_id and h.id <= coalesce(r.until_id, h.id)) as status,
       h.problem
  from rowrelay.change h
  join rowrelay.capture c on c.id = h.capture;
comment on view rowrelay.history is 'every captured change: what, when, who, and its status for each target';
