-- Purpose:    finds the columns that a document's query returns and the tables that it reads, without running it, and
--             resolves its names once: PostgreSQL itself parses and prints it. So functions and operators that are made
--             later, perhaps by others, do not run as the schema's owner.
-- Parameters: name, for messages; query; name and type of the key; path: where its names are looked up
-- Result:     columns: [{"name", "type"}] in their order; is_json: the only column is the document; reads: tables;
--             resolved: the query with all names in full, so that it means the same under search_path pg_catalog
-- Errors:     it is not a valid query, or does not return the key, or one of another type
create or replace function rowrelay.check_document_query(name text, query text, key_name text, key_type regtype,
                                                         path text, out columns jsonb, out is_json boolean,
                                                         out reads regclass[], out resolved text)
language plpgsql set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
declare
  -- for $1 in a view: of its type, and with a text of its own when it is printed; in parentheses for $1[1]
  typed      constant text := format('(pg_catalog.array_remove(null::%1$s[], null::%1$s))',
                                     rowrelay.document_key_type(key_type));
  made       regclass;
  own_type   regtype; -- of the column that has the key
  words      text;
  hint_words text;
begin
  if query !~ E'\\$1(?!\\d)' then
    raise exception 'the query of document "%" does not use $1', name using errcode = 'invalid_parameter_value',
      hint = '$1 is the array of the keys to build, as in: where o.id = any ($1)';
  end if;
  begin
    perform set_config('search_path', path, true);
    execute pg_catalog.concat('create temporary view rowrelay_document_check as ',
                              pg_catalog.regexp_replace(query, E'\\$1(?!\\d)', typed, 'g'));
    perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
  exception when others then
    get stacked diagnostics words = message_text, hint_words = pg_exception_hint;
    raise exception 'the query of document "%" cannot be run: %', name, words
      using errcode = sqlstate, hint = coalesce(nullif(hint_words, ''), format('In it, $1 is of type %s[].', key_type));
  end;
  made := 'pg_temp.rowrelay_document_check'::regclass;
  reads := array(select rowrelay.read_tables(made));
  resolved := replace(regexp_replace(btrim(pg_get_viewdef(made), E' \n;'),
                                     E'array_remove\\(NULL::[^()]+\\[\\], NULL::[^()]+\\)', '$1', 'g'), typed, '$1');
  select jsonb_agg(jsonb_build_object('name', a.attname,
                     'type', case when t.typnamespace = 'pg_catalog'::regnamespace
                       or e.typnamespace = 'pg_catalog'::regnamespace
                                  then format_type(a.atttypid, a.atttypmod)
                                  -- user-defined types may not exist at the target
                                  when b.typtype = 'b'
                                    and b.typnamespace = 'pg_catalog'::regnamespace then format_type(b.oid, -1)
                                  else 'text' end) order by a.attnum),
         count(*) = 1 and bool_and(t.oid in ('json'::regtype, 'jsonb'::regtype)),
         min(b.oid) filter (where a.attname = key_name)
    into columns, is_json, own_type
    from pg_attribute a
    join pg_type t on t.oid = a.atttypid
    join pg_type b on b.oid = rowrelay.base_type(t.oid)
    left join pg_type e on e.oid = t.typelem and t.typelem <> 0 and t.typcategory = 'A'
   where a.attrelid = made and a.attnum > 0;
  drop view pg_temp.rowrelay_document_check;
  if not is_json and not columns @> jsonb_build_array(jsonb_build_object('name', key_name)) then
    raise exception 'the query of document "%" does not return its key "%"', name, key_name
      using errcode = 'undefined_column',
            hint = 'It returns: ' || (select string_agg(c ->> 'name', ', ')
                                      from jsonb_array_elements(columns) as c) || '.';
  end if;
  if not is_json and not rowrelay.is_key_type(own_type, key_type) then
    raise exception 'the key "%" of document "%" is of type %, but the keys in $1 are of type %', key_name, name,
      own_type, key_type
      using errcode = 'datatype_mismatch',
        hint = format('$1 has the keys of the first source. Return the column that is compared with $1, or cast: '
                      '(...)::%s as %I.', key_type, key_name);
  end if;
end
$$;
