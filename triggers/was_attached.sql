-- Purpose:    whether a partition was a table before: ATTACH PARTITION writes its columns' rows in pg_attribute anew,
--             and CREATE TABLE ... PARTITION OF makes them all by one command, with those of its system columns, which
--             stay
-- Parameters: partition
-- Result:     true also if all its columns were altered since
create or replace function rowrelay.was_attached(relation regclass) returns boolean
language sql stable as $$
  select coalesce(bool_and((a.xmin, a.cmin) is distinct from (s.xmin, s.cmin)), false)
    from pg_attribute s
    join pg_attribute a on a.attrelid = s.attrelid and a.attnum > 0 and not a.attisdropped and not a.atthasdef
   where s.attrelid = relation and s.attnum = -6
$$;
