-- What a person does about the rows from before the capture as long as there is no backfill: writes every row once as it
-- is. One table at a time, with a lock that lets readers pass, so that it cannot deadlock with the application.
select format('begin; lock table %1$s in exclusive mode; update %1$s set %2$I = %2$I; commit',
              c.oid::regclass, a.attname)
  from pg_class c
  cross join lateral (select attname from pg_attribute
                       where attrelid = c.oid and attnum > 0 and attidentity <> 'a' and attgenerated = ''
                       order by attnum limit 1) a
 where c.relnamespace = 'shop'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
\gexec
