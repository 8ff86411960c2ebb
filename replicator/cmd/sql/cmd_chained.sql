-- How many of some tables are captured without what rowrelay itself writes, in a database into which it delivers.
--   $1 oids of the tables
-- Gives chained: tables
select count(*) as tables
  from rowrelay.capture c
 where c.relation = any ($1::oid[]) and c.released_at is null and not c.capture_origin
   and exists (select from pg_class f join pg_namespace n on n.oid = f.relnamespace
                where n.nspname = 'rowrelay_target' and f.relname = 'fence');
