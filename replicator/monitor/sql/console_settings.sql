-- What `rowrelay target show` says of target $1, for the console, with the first 200 tables that go there.
select json_build_object(
  'settings', (select json_agg(json_build_array(v.name, v.value) order by v.position, v.name)
                 from (select 1 as position, 'url' as name, t.url as value
                       union all select 2, 'lanes', t.lanes::text
                       union all select 3, 'since', t.created_at::text
                       union all select 4, 'reason', t.reason where t.reason is not null
                       union all
                       select 5, 'resumed', date_trunc('second', t.resumed_at) || ' by ' || t.resumed_by
                        where t.resumed_at is not null
                       union all
                       select 6, 'option ' || o.key, o.value from jsonb_each_text(t.options) o where o.key <> 'lanes'
                      ) v),
  'routes', (select coalesce(json_agg(c.relation_name order by c.relation_name), '[]')
               from (select c.relation_name from rowrelay.captures c
                      where t.name = any (c.targets) order by c.relation_name limit 200) c))
  from rowrelay.targets t
 where t.name = $1::text;
