-- Purpose:    returns SQL that splits keys as the log has them into the columns of the key. No cast of a type's owner
--             runs: a user-defined type is read from JSON, by its input function.
-- Parameters: capture; keys: SQL for an array of texts
-- Result:     items for a FROM clause: u.key is the text, wanted.* are the columns, with base types in place of domains
-- Errors:     the key is one column of arrays or rows, and the type has a cast from text in another language than C
create or replace function rowrelay.parsed_keys(capture rowrelay.capture, keys text) returns text
language plpgsql stable as $$ -- rather than SQL, because its plans are kept
declare
  is_read_as_text constant boolean := cardinality(capture.key_columns) = 1
    and not exists (select from pg_attribute a join pg_type t on t.oid = rowrelay.plain_oid(a.atttypid)
                     where a.attrelid = capture.relation and a.attnum = capture.key_columns[1]
                       and t.oid >= 16384 and t.typtype <> 'c' and rowrelay.element_type(t.oid) is null);
begin
  if is_read_as_text and rowrelay.has_text_cast(capture.relation, capture.key_columns) then
    raise exception 'the key of table % can only be read by a cast of its type''s owner', capture.relation
      using errcode = 'feature_not_supported',
            detail = 'Rows cannot be looked up by this key, because that would run the owner''s code.',
            hint = 'Name other columns as its key: '
                     || rowrelay.command('rowrelay capture %s --key COLUMNS',
                                         'select rowrelay.capture_table(%L, key => ''{COLUMNS}'');',
                                         capture.relation::text);
  end if;
  return (
    select format(case when is_read_as_text
                       then 'unnest(%1$s) as u(key) cross join lateral (select u.key::%2$s as %3$I) as wanted'
                       -- a key of several columns is a JSON array; an array or a row in it is JSON too
                       else 'unnest(%1$s) as u(key) '
                            'cross join lateral json_to_record(json_build_object(%4$s)) as part(%5$s) '
                            'cross join lateral (select %6$s) as wanted' end,
                  keys, min(k.type), min(k.name),
                  string_agg(format(case when k.is_alone then '%L, u.key' else '%L, u.key::json -> %s' end, k.name,
                                    k.position - 1), ', '),
                  string_agg(format('%I %s', k.name, k.type), ', ' order by k.position),
                  -- no key column is null, so a null there is the JSON value null
                  string_agg(format(case
                                    when k.type = 'pg_catalog.jsonb' and not k.is_alone
                                      then '(u.key::json -> %1$s)::text::pg_catalog.jsonb as %2$I'
                                         else 'part.%2$I' end, k.position - 1, k.name), ', ' order by k.position))
      from (select a.attname::text as name, u.position, cardinality(capture.key_columns) = 1 as is_alone,
                   rowrelay.plain_type(a.atttypid, a.attcollation) as type
              from unnest(capture.key_columns) with ordinality as u(number, position)
              join pg_attribute a on a.attrelid = capture.relation and a.attnum = u.number and not a.attisdropped) as k
    having count(*) > 0);
end
$$;
