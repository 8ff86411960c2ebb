-- Purpose:    returns the columns that identify a row: the primary key, else the smallest unique index on NOT NULL
--             columns. A deferrable one does not count, because while it is deferred two rows may have one key; nor
--             does one that distinguishes values which the column's collation does not.
-- Parameters: relation
-- Result:     attribute numbers in the index's order; empty when there is no such index
create or replace function rowrelay.key_of(relation regclass) returns smallint[]
language sql stable as $$
  select coalesce(
    (select array(select k::smallint from unnest(i.indkey::smallint[]) with ordinality as u(k, position)
                   where position <= i.indnkeyatts order by position)
       from pg_index i
      where i.indrelid = relation and i.indisunique and i.indisvalid and i.indimmediate
        and i.indpred is null and i.indexprs is null
        and not exists (select from unnest(i.indkey::smallint[]) with ordinality as u(k, position)
                         join pg_attribute a on a.attrelid = relation and a.attnum = u.k
                        where position <= i.indnkeyatts
                          and (not a.attnotnull
                               or exists (select from pg_collation c
                                           where c.oid = a.attcollation and not c.collisdeterministic
                                             and i.indcollation[u.position::integer - 1] <> c.oid)))
      order by i.indisprimary desc, i.indnkeyatts, i.indexrelid
      limit 1),
    '{}')
$$;
