-- Target $1, for programs: an array of one, with the tables that go there.
select coalesce(json_agg(t), '[]')
  from (select t.*,
               array(select c.relation::text from rowrelay.captures c where t.name = any (c.targets) order by 1)
                 as tables
          from rowrelay.targets t
         where t.name = $1::text) t;
