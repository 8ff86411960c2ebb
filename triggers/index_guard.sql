-- Purpose:    whether a unique index of the table itself covers a key; see rowrelay.key_guard()
-- Parameters: relation; attribute numbers of the key
-- Result:     table, deferrable or none
create or replace function rowrelay.index_guard(relation regclass, numbers smallint[]) returns text
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  return coalesce(
    (select case when i.indimmediate then 'table' else 'deferrable' end
       from pg_index i
      where i.indrelid = relation and i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null
        and (i.indkey::smallint[])[0:i.indnkeyatts - 1] operator(pg_catalog.<@) numbers
        -- an index that distinguishes values which the column's collation does not would allow equal keys
        and not exists (select from generate_series(0, i.indnkeyatts - 1) as n
                          join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[n]
                          join pg_collation c on c.oid = a.attcollation and not c.collisdeterministic
                         where i.indcollation[n] <> a.attcollation)
      order by i.indimmediate desc
      limit 1),
    'none');
end
$$;
