-- Purpose:    what a generated trigger function was made from, so that one can see that the table is no longer so
-- Parameters: capture
-- Result:     a digest of the table's columns, and whether it has triggers or inheritance children that matter; null when
--             the table is gone
create or replace function rowrelay.column_state(capture rowrelay.capture) returns text
language sql stable as $$
  select md5(string_agg(format('%s %s %s %s %s', a.attnum, a.attname, a.atttypid, a.atttypmod, a.attnotnull), ',' order by a.attnum)
             || rowrelay.has_row_triggers(capture)
             || exists (select from pg_inherits i where i.inhparent = capture.relation))
    from pg_attribute a
   where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped
$$;
