-- Purpose:    describes what decides the lane of a row: the columns and their types, whose hash functions differ
-- Parameters: capture
-- Result:     a text that changes when rows may change lanes; renames do not count
create or replace function rowrelay.lane_state(capture rowrelay.capture) returns text
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  return (
    select coalesce(string_agg(format('%s %s %s%s%s%s', u.n, a.atttypid, a.attcollation,
                                      -- in a key another value is another row's
                                      case when a.attnum <> all (capture.key_columns)
                                           then ' of ' || rowrelay.column_version(a.atttypmod, a.xmin) end,
                                      case when h.expression is null then ' any' end,
                                      -- others have the same function in each version of PostgreSQL
                                      case when exists (select from rowrelay.type_parts(a.atttypid, a.attcollation))
                                             or rowrelay.hashed_as(a.atttypid) = 'anyenum'::regtype
                                           then ' by ' || split_part(h.expression, '(', 1) end),
                               ',' order by u.position), '')
      from unnest(coalesce(capture.lane_columns, capture.key_columns)) with ordinality as u(n, position)
      left join pg_attribute a on a.attrelid = capture.relation and a.attnum = u.n and not a.attisdropped
     cross join lateral rowrelay.column_hash('', a.attname, a.atttypid, a.attcollation) as h(expression));
end
$$;
