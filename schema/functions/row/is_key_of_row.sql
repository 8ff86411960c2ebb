-- Purpose:    whether a change in the log is of the row with a key, in whatever spelling
-- Parameters: capture of the change; its key; the key of the row
create or replace function rowrelay.is_key_of_row(capture_id integer, logged text, key text) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select case when logged = key then true
              else coalesce((select rowrelay.is_same_key(c.id, logged, key) from rowrelay.capture c
                              where c.id = capture_id and not c.key_is_exact and cardinality(c.key_columns) > 0), false)
         end
$$;
