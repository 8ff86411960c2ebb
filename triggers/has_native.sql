-- Purpose:    tells whether trigger functions are made in language rowrelay: the server module rowrelay_native is
--             installed in this database, the schema's owner may use it, and it is not switched off
--             (rowrelay.capture_natively)
create or replace function rowrelay.has_native() returns boolean
language sql stable as $$
  select exists (select from pg_language l join pg_namespace n on n.nspname = 'rowrelay'
                  where l.lanname = 'rowrelay' and has_language_privilege(n.nspowner, l.oid, 'usage'))
     and exists (select from rowrelay.source s where s.native)
$$;
