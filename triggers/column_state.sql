-- Purpose:    what a generated trigger function was made from, so that one can see that the table is no longer so
--             (A server in FIPS mode has no md5.)
-- Parameters: capture
-- Result:     a digest of the table's columns and of the row types in them, whether its key is unique, whether it has inheritance
--             children, who may make partitions of it, and the number of the way in which functions are made; null when the
--             table is gone
create or replace function rowrelay.column_state(capture rowrelay.capture) returns text
language sql stable as $$
  select encode(sha256(convert_to(
           string_agg(format('%s %s %s %s %s', a.attnum, a.attname, a.atttypid, a.atttypmod, a.attnotnull), ',' order by a.attnum)
             || format(' 2 %s ', rowrelay.key_is_unique(capture))
             || rowrelay.part_state(capture.relation)
             || exists (select from pg_inherits i where i.inhparent = capture.relation)
             || coalesce((select c.relowner::text from pg_class c where c.oid = capture.relation and c.relkind = 'p'), ''),
           getdatabaseencoding())), 'hex')
    from pg_attribute a
   where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped
$$;
