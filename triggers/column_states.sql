-- Purpose:    returns digests of what generated trigger functions depend on, which show that a function is out of date.
--             For many captures at once, because one by one thousands would take seconds. (A server in FIPS mode has no
--             md5.)
-- Parameters: ids of captures
-- Result:     capture; digest of its table's number (which a restored table has not kept), its columns and the row
--             types in them, what its lanes depend on, whether its key is unique, whether it has inheritance children,
--             the owner if it is partitioned, whether functions are made in language rowrelay, whether it is captured
--             by statement, and the version of rowrelay.trigger_function(). No row for a capture whose table is gone.
create or replace function rowrelay.column_states(captures integer[]) returns table (capture integer, state text)
-- resets the planner settings of processes, which suit only the queue
language plpgsql stable set plan_cache_mode = auto set enable_seqscan = on set enable_bitmapscan = on
  set enable_hashjoin = on
set enable_mergejoin = on set jit = off as $$
begin
  return query
    with described as (
      select c.id, string_agg(format('%s %s %s %s %s %s', a.attnum, a.attname, a.atttypid,
                               rowrelay.column_version(a.atttypmod, a.xmin), a.attcollation, a.attnotnull), ','
                        order by a.attnum) as columns,
             bool_or(a.atttypid >= 16384) as has_own_types
        from rowrelay.capture c
        join pg_attribute a on a.attrelid = c.relation and a.attnum > 0 and not a.attisdropped
       where c.id = any (captures)
       group by c.id
    )
    select c.id,
           encode(sha256(convert_to(
             d.columns || format(' 2 %s %s ', c.relation::oid, rowrelay.key_is_unique(c))
               || case when n.is_native then 'native' else '' end
               || case when c.per = 'statement' then 'per statement ' || rowrelay.is_by_statement(c) else '' end
               || case when c.lane_columns <> '{}' then rowrelay.lane_state(c) else '' end
               || case when d.has_own_types then rowrelay.part_state(c.relation) else '' end
               || exists (select from pg_inherits i where i.inhparent = c.relation)
               || coalesce((select r.relowner::text from pg_class r where r.oid = c.relation and r.relkind = 'p'), ''),
             getdatabaseencoding())), 'hex')
      from described d
      join rowrelay.capture c on c.id = d.id
     cross join (select rowrelay.has_native() as is_native) as n;
end
$$;
