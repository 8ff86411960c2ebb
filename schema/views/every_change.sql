-- Every change and its delivery to each target: for the owner and the admin, whose queries can use an index on an
-- expression. People query rowrelay.history, which has the same columns.
create or replace view rowrelay.every_change as
select h.id as change_id,
       c.relation,
       case h.op when 'i' then 'insert' when 'u' then 'update' when 'd' then 'delete' when 't' then 'truncate'
                 when 'b' then 'barrier' when 'r' then 'refresh' else 'snapshot' end as op,
       h.key,
       h.old_row,
       h.new_row,
       case when h.old_row is not null
         and h.new_row is not null then rowrelay.changed(h.old_row, h.new_row) end as changed,
       h.captured_at,
       h.txid,
       coalesce(h.actor, h.db_user) as actor,
       h.db_user,
       h.application_name,
       h.client_addr,
       (select jsonb_object_agg(t.target, t.delivery -> 'status')
        from jsonb_each(d.said) as t(target, delivery)) as status,
       case when d.said @? '$.*.status ? (@ == "error" || @ == "skipped" || @ == "superseded")'
            then rowrelay.delivery_of(h.id, h.capture, h.caveat, (
              select jsonb_object_agg(e.target, e.words)
                from (select f.target, concat_ws(': ', f.message, f.detail)
                        from rowrelay.refusal f
                       where f.change_id = h.id
                         and f.target = any (array(select r.target from rowrelay.route r where r.capture = h.capture))
                       union all
                      select s.target, s.error
                        from rowrelay.receipt s
                       where int8range(s.first_id, s.last_id, '[]') @> h.id and s.error is not null
                         and h.id = any (s.change_ids)
                     ) as e(target, words)))
            else d.said end as deliveries,
       h.caveat ->> 'problem' as problem,
       h.caveat,
       h.day
  from rowrelay.change h
  join rowrelay.capture c on c.id = h.capture
  -- computed once for both columns, and not at all when neither is selected
  cross join lateral (select rowrelay.delivery_of(h.id, h.capture, h.caveat, null) as said offset 0) as d;
comment on view rowrelay.every_change is 'every captured change of all tables, readable or not; people query '
                                         'rowrelay.history';
