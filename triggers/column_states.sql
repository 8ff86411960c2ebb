-- Purpose:    what generated trigger functions were made from, so that one can see that a table is no longer so. Of many
--             captures at once, because one by one it would take seconds where thousands are captured.
--             (A server in FIPS mode has no md5.)
-- Parameters: ids of captures
-- Result:     capture; a digest of its table's columns and of the row types in them, whether its key is unique, whether it has
--             inheritance children, who may make partitions of it, and the number of the way in which functions are
--             made. None for a capture whose table is gone.
create or replace function rowrelay.column_states(captures integer[]) returns table (capture integer, state text)
-- processes have other plans forbidden, which suit the queue
language plpgsql stable set plan_cache_mode = auto set enable_seqscan = on set enable_bitmapscan = on set enable_hashjoin = on
set enable_mergejoin = on set jit = off as $$
begin
  return query
    with described as (
      select c.id, string_agg(format('%s %s %s %s %s %s', a.attnum, a.attname, a.atttypid, a.atttypmod, a.attcollation,
                                          a.attnotnull), ',' order by a.attnum) as columns,
             bool_or(a.atttypid >= 16384) as has_own_types
        from rowrelay.capture c
        join pg_attribute a on a.attrelid = c.relation and a.attnum > 0 and not a.attisdropped
       where c.id = any (captures)
       group by c.id
    )
    select c.id,
           encode(sha256(convert_to(
             d.columns || format(' 2 %s ', rowrelay.key_is_unique(c))
               || case when d.has_own_types then rowrelay.part_state(c.relation) else '' end
               || exists (select from pg_inherits i where i.inhparent = c.relation)
               || coalesce((select r.relowner::text from pg_class r where r.oid = c.relation and r.relkind = 'p'), ''),
             getdatabaseencoding())), 'hex')
      from described d
      join rowrelay.capture c on c.id = d.id;
end
$$;
