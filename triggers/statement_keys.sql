-- Purpose:    returns the statement of rowrelay.statement_body() that counts the rows of an update of many, and finds
--             out whether it changed a key, and whether one is null. Both versions of a row stand at the same place, so
--             their keys are compared as arrays: in pieces, because arrays of all keys would take much memory. To join
--             the rows by their place takes twice the time.
-- Parameters: relation; attribute numbers of its key
create or replace function rowrelay.statement_keys(relation regclass, key_columns smallint[]) returns text
language plpgsql stable as $$
declare
  is_null constant text := 'pg_catalog.array_position(%s, null) is not null';
  pieces  constant text :=
    '(select k.piece, %2$s from (select pg_catalog.row_number() over () operator(pg_catalog./) 1000 as piece, %3$s '
    'from rowrelay_%1$s as %1$s) as k group by k.piece)';
begin
  return (
    select concat_ws(E'\n',
             format('        select coalesce(pg_catalog.sum(pg_catalog.cardinality(%s)), 0),', min(k.new_keys)),
             format('               coalesce(pg_catalog.bool_or(%s), false),',
                    string_agg(format(is_null || ' or ' || is_null, k.new_keys, k.old_keys), ' or ')),
             format('               coalesce(pg_catalog.bool_or(%s), false) into counted, is_keyless, is_other',
                    string_agg(format('%s operator(pg_catalog.<>) %s', k.new_keys, k.old_keys), ' or ')),
             format('          from %s as n', format(pieces, 'new', string_agg(k.as_array, ', '),
                                                     string_agg(k.new_key, ', '))),
             format('          full join %s as o', format(pieces, 'old', string_agg(k.as_array, ', '),
                                                          string_agg(k.old_key, ', '))),
             '            on o.piece operator(pg_catalog.=) n.piece;')
      from pg_attribute a
     cross join lateral (
       select format('n.keys_%s', a.attnum) as new_keys, format('o.keys_%s', a.attnum) as old_keys,
              format('pg_catalog.array_agg(k.key_%1$s) as keys_%1$s', a.attnum) as as_array,
              format('%s as key_%s', rowrelay.plain_value('new', a.attname, a.atttypid), a.attnum) as new_key,
              format('%s as key_%s', rowrelay.plain_value('old', a.attname, a.atttypid), a.attnum) as old_key) as k
     where a.attrelid = relation and a.attnum = any (key_columns));
end
$$;
