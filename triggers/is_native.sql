-- Purpose:    tells whether a capture's trigger function is in language rowrelay
-- Parameters: capture id
create or replace function rowrelay.is_native(capture_id integer) returns boolean
language sql stable as $$
  select exists (select from pg_proc p
                   join pg_namespace n on n.oid = p.pronamespace
                   join pg_language l on l.oid = p.prolang
                  where n.nspname = 'rowrelay' and p.proname = 'capture_' || capture_id and l.lanname = 'rowrelay')
$$;
