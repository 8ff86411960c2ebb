-- Purpose:    returns SQL that splits keys as the log has them into the columns of the key
-- Parameters: capture; keys: SQL for an array of texts
-- Result:     items for a FROM clause: u.key is the text, wanted.* are the columns, with base types in place of domains
create or replace function rowrelay.parsed_keys(capture rowrelay.capture, keys text) returns text
language plpgsql stable as $$ -- rather than SQL, because its plans are kept
begin
  return (
    select format(case when cardinality(capture.key_columns) = 1
                       then 'unnest(%1$s) as u(key) cross join lateral (select u.key::%2$s as %3$I) as wanted'
                       -- a key of several columns is a JSON array; an array or a row in it is JSON too
                       else 'unnest(%1$s) as u(key) '
                            'cross join lateral json_to_record(json_build_object(%4$s)) as part(%5$s) '
                            'cross join lateral (select %6$s) as wanted' end,
                  keys, min(k.type), min(k.name),
                  string_agg(format('%L, u.key::json -> %s', k.name, k.position - 1), ', '),
                  string_agg(format('%I %s', k.name, k.type), ', ' order by k.position),
                  -- no key column is null, so a null there is the JSON value null
                  string_agg(format(case
                                    when k.type = 'pg_catalog.jsonb'
                                      then '(u.key::json -> %1$s)::text::pg_catalog.jsonb as %2$I'
                                         else 'part.%2$I' end, k.position - 1, k.name), ', ' order by k.position))
      from (select a.attname::text as name, u.position, rowrelay.plain_type(a.atttypid, a.attcollation) as type
              from unnest(capture.key_columns) with ordinality as u(number, position)
              join pg_attribute a on a.attrelid = capture.relation and a.attnum = u.number and not a.attisdropped) as k
    having count(*) > 0);
end
$$;
