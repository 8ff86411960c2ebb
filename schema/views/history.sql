-- Every change, and what has become of it at each target.
create or replace view rowrelay.history as
select h.id as change_id,
       c.relation,
       case h.op when 'i' then 'insert' when 'u' then 'update' when 'd' then 'delete' when 't' then 'truncate'
                 when 'b' then 'barrier' when 'r' then 'refresh' else 'snapshot' end as op,
       h.key,
       h.old_row,
       h.new_row,
       rowrelay.changed(h.old_row, h.new_row) as changed,
       h.captured_at,
       h.txid,
       coalesce(h.actor, h.db_user) as actor,
       h.db_user,
       h.application_name,
       h.client_addr,
       (select jsonb_object_agg(t.name,
                 case
                   -- sent at most once, it counts as refused until there is an answer
                   when refused.lane is not null and leased.lane is null then 'error'
                   when leased.lane is not null then 'in-progress'
                   when queued.lane is null then 'complete'
                   when exists (select from pg_locks l
                                 where l.locktype = 'advisory' and l.classid = 1919907698 and l.objid = queued.lane::oid
                                   and l.database = (select d.oid from pg_database d where d.datname = current_database())
                                   and l.granted) then 'in-progress'
                   else 'new'
                 end)
          from rowrelay.route r
          join rowrelay.target t on t.id = r.target
          left join lateral (select q.lane from generate_series(-1, t.lanes - 1) as n
                              cross join (select 0 union select rowrelay.waiting_room(r.capture, r.target)) as room(lane)
                               join rowrelay.queue q on q.lane = rowrelay.lane_number(t.id, n) + room.lane and q.change_id = h.id
                              limit 1) as queued on true
          left join rowrelay.refusal refused on refused.target = r.target and refused.change_id = h.id
          left join rowrelay.lease leased on leased.lane = coalesce(queued.lane, refused.lane) and leased.lease_until > clock_timestamp()
         where r.capture = h.capture and h.id > r.from_id and h.id <= coalesce(r.until_id, h.id)
            -- a snapshot goes to one target, as does what is queued again
            and r.target = coalesce((h.caveat ->> 'target')::integer, r.target)) as status,
       null::jsonb as deliveries,
       h.caveat ->> 'problem' as problem,
       h.caveat,
       h.day
  from rowrelay.change h
  join rowrelay.capture c on c.id = h.capture;
comment on view rowrelay.history is 'every captured change: what, when, who, and its status for each target';
