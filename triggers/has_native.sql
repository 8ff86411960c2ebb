-- Purpose:    tells whether trigger functions are made in language rowrelay: the server module rowrelay_native is
--             installed in this database, it is not switched off (rowrelay.capture_natively), and nothing is in the way
--             (rowrelay.native_obstacle)
create or replace function rowrelay.has_native() returns boolean
language sql stable as $$
  select exists (select from pg_language l where l.lanname = 'rowrelay')
     and exists (select from rowrelay.source s where s.native)
     and (select o.obstacle is null from rowrelay.native_obstacle() as o)
$$;
