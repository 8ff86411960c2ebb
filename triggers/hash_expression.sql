-- Purpose:    returns SQL for the hash that chooses the lane. It uses each type's own hash function, which agrees with
--             the type's equality where texts do not: 1.0 and 1.00, or two spellings in citext, are one key. A type
--             without a hash function whose equal values may have different texts adds nothing: if the key has only
--             such types, the whole table is one lane.
-- Parameters: capture id (the hash of a table that is one lane); relation; attribute numbers; new or old
-- Result:     an expression of type integer
create or replace function rowrelay.hash_expression(capture_id integer, relation regclass, numbers smallint[],
                                                    row_name text) returns text
language plpgsql stable as $$
declare
  hashed text;
begin
  select string_agg(rowrelay.column_hash(row_name, a.attname, a.atttypid, a.attcollation), ', ' order by u.position)
    into hashed
    from unnest(numbers) with ordinality as u(n, position)
    join pg_attribute a on a.attrelid = relation and a.attnum = u.n and not a.attisdropped;
  return case
    when hashed is null then format('pg_catalog.hashint4(%s)', capture_id)
    when cardinality(numbers) = 1 then format('coalesce(%s, 0)', hashed)
    else format('pg_catalog.hashtext(pg_catalog.concat_ws('','', %s))', hashed)
  end;
end
$$;
