-- Purpose:    SQL for keys as the log has them, taken apart into the columns of the key
-- Parameters: capture; keys: SQL for an array of texts
-- Result:     what can stand behind FROM: u.key is the text, wanted.* are the columns
create or replace function rowrelay.parsed_keys(capture rowrelay.capture, keys text) returns text
language plpgsql stable as $$ -- rather than SQL, because its plans are kept
begin
  return (
    select format('unnest(%s) as u(key) cross join lateral (select %s) as wanted', keys,
                  string_agg(format(case when cardinality(capture.key_columns) = 1 then 'u.key::%3$s as %2$I'
                                         else '(u.key::json ->> %1$s)::%3$s as %2$I' end,
                                    u.position - 1, a.attname, format_type(a.atttypid, -1)), ', ' order by u.position))
      from unnest(capture.key_columns) with ordinality as u(number, position)
      join pg_attribute a on a.attrelid = capture.relation and a.attnum = u.number and not a.attisdropped);
end
$$;
