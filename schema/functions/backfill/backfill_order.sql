-- Purpose:    finds an order for reading a table piece by piece, each piece starting after the last one: the columns of
--             a unique index that are not null. The capture's key is preferred, but any such index will do.
-- Parameters: a table with rows of its own; columns to prefer
-- Result:     names in the index's order; empty when there is no such index
create or replace function rowrelay.backfill_order(relation regclass, preferred text[]) returns text[]
language sql stable as $$
  select coalesce(
    (select k.names
       from pg_index i
       join pg_class c on c.oid = i.indexrelid and c.relam = (select m.oid from pg_am m where m.amname = 'btree')
       cross join lateral (
         select array_agg(a.attname::text order by u.position) as names,
                -- usable for this order: all columns ascending or all descending, with the columns' own collations and
                -- their types' default operators
                bool_and(a.attnotnull and i.indcollation[u.position::integer - 1] = a.attcollation and o.opcdefault
                         and i.indoption[u.position::integer - 1] = i.indoption[0]
                           and i.indoption[0] in (0, 3)) as usable
           from unnest(i.indkey::smallint[]) with ordinality as u(number, position)
           left join pg_attribute a on a.attrelid = i.indrelid and a.attnum = u.number and a.attnum > 0
           left join pg_opclass o on o.oid = i.indclass[u.position::integer - 1]
          where u.position <= i.indnkeyatts) as k
      where i.indrelid = relation and i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null
        and k.usable
      order by k.names operator(pg_catalog.@>) preferred and k.names operator(pg_catalog.<@) preferred desc,
               i.indisprimary desc, i.indnkeyatts, i.indexrelid
      limit 1),
    '{}')
$$;
