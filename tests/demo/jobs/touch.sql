-- What a person does about the rows from before the capture as long as there is no backfill: writes every row once as it
-- is. One table at a time, with a lock that lets readers pass, so that it cannot deadlock with the application.
--
-- Where there is no key this would be nothing: one row less and the same row more. Such a table is emptied and refilled.
select case when exists (select from pg_index where indrelid = c.oid and indisprimary) then
         format('begin; lock table %1$s in exclusive mode; update %1$s set %2$I = %2$I; commit', c.oid::regclass, a.attname)
       else
         format('begin; lock table %1$s; create temp table kept on commit drop as table %1$s; truncate %1$s; '
                'insert into %1$s table kept; commit', c.oid::regclass)
       end
  from pg_class c
  cross join lateral (select attname from pg_attribute
                       where attrelid = c.oid and attnum > 0 and attidentity <> 'a' and attgenerated = ''
                       order by attnum limit 1) a
 where c.relnamespace = 'shop'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
\gexec
