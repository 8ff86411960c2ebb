-- Where changes can go.
create or replace view rowrelay.targets as
select t.name, t.url, s.state, nullif(concat_ws('; ', t.reason, t.may_differ), '') as reason, t.lanes, t.options,
       t.created_at, t.resumed_by, t.resumed_at
  from rowrelay.target t
  join rowrelay.target_states s on s.target = t.id
 where t.dropped_at is null and not exists (select from rowrelay.document d where d.target = t.id);
comment on view rowrelay.targets is 'where changes can go';
