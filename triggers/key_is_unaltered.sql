-- Purpose:    returns SQL for whether a table's columns are as they were when its trigger function was made: else the
--             text of its key might be made by a cast of the table's owner. It is evaluated at planning.
-- Parameters: capture
create or replace function rowrelay.key_is_unaltered(capture rowrelay.capture) returns text
language sql stable as $$
  select format('rowrelay.row_is_unaltered(%L, %L, %L, %L)', capture.relation::oid,
                array_agg(a.atttypid order by a.attnum),
                array_agg(a.attname order by a.attnum) filter (where a.attnum = any (rowrelay.live_key(capture))),
                array_agg(a.atttypid order by a.attnum) filter (where a.attnum = any (rowrelay.live_key(capture))))
    from pg_attribute a
   where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped
$$;
