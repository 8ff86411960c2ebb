-- Target $1, for people: one line for each of its settings, and for each table that goes there.
with shown as (
  select t.* from rowrelay.targets t where t.name = $1::text
)
select l.name, l.value
  from shown t,
       lateral (select *
                  from (values (1, 'name', t.name), (2, 'url', t.url), (3, 'state', t.state), (4, 'reason', t.reason),
                               (5, 'lanes', t.lanes::text),
                               (6, 'resumed', date_trunc('second', t.resumed_at) || ' by ' || t.resumed_by))
                       v (position, name, value)
                 where v.value is not null
                 union all
                select 7, 'option ' || o.key, o.value from jsonb_each_text(t.options) o where o.key <> 'lanes'
                 union all
                select 8, 'table', c.relation::text from rowrelay.captures c where t.name = any (c.targets)) l
 order by l.position, l.name, l.value;
