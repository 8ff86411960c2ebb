-- Purpose:    checks the query of a source TABLE:QUERY: that it runs, uses "changed", and returns one column of
--             keys; warns of keys of another kind, and of large tables that it reads as a whole for each change.
--             Resolves its names once, as rowrelay.check_document_query() does.
-- Parameters: document: its name, for messages; source: its text; relation and query: its parts; key_type: of the
--             document's keys; path: where its names are looked up
-- Result:     resolved: the query with all names in full; "changed" is as it was
-- Errors:     the query cannot be used
create or replace function rowrelay.check_keys_query(document text, source text, relation regclass, query text,
                                                     key_type regtype, path text, out resolved text)
language plpgsql set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
declare
  -- without literals and comments
  words    constant text := regexp_replace(query, E'''(?:[^'']|'''')*''|--[^\\n]*|/[*].*?[*]/', ' ', 'g');
  returned regtype;
  kind     "char";
  columns  integer;
  missing  record;
begin
  if words !~* E'(?<![[:alnum:]_"])changed(?![[:alnum:]_"])' and words !~ '"changed"' then
    raise exception 'the query in "%" does not use "changed"', source using errcode = 'invalid_parameter_value',
      hint = format('"changed" stands for the changed rows of %s, as in: select o.id from orders o join changed c on '
                    'c.id = o.customer_id. If each change concerns all documents, add: cross join changed', relation);
  end if;
  execute format('create temporary view changed as %s',
                 rowrelay.changed_statement(relation, 'select * from changed', 'null'));
  begin
    perform set_config('search_path', concat_ws(', ', 'pg_temp', nullif(path, '')), true);
    execute pg_catalog.concat('create temporary view rowrelay_keys_check as ', query);
    perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    resolved := btrim(pg_get_viewdef('pg_temp.rowrelay_keys_check'::regclass), E' \n;');
    execute format('create temporary view rowrelay_keys_cast as %s',
                   rowrelay.keys_statement(relation, resolved, key_type, 'null'));
    execute 'drop view pg_temp.rowrelay_keys_cast';
  exception when others then
    raise exception 'the query in "%" cannot be run: %', source, sqlerrm using errcode = sqlstate,
      hint = 'It must return one column, the documents'' keys; "changed" stands for the changed rows of the table.';
  end;
  select a.atttypid::regtype, t.typcategory, c.relnatts into returned, kind, columns
    from pg_attribute a
    join pg_class c on c.oid = a.attrelid
    join pg_type t on t.oid = rowrelay.base_type(a.atttypid)
   where a.attrelid = 'pg_temp.rowrelay_keys_check'::regclass and a.attnum = 1;
  execute 'drop view pg_temp.rowrelay_keys_check; drop view pg_temp.changed';
  if columns <> 1 then
    raise exception 'the query in "%" returns % columns', source, columns using errcode = 'invalid_parameter_value',
      hint = 'It must return one column, the documents'' keys.';
  end if;
  if kind = 'S' and (select t.typcategory from pg_type t where t.oid = key_type) <> 'S' then
    raise warning 'the query in "%" returns keys of type %, but those of document "%" are of type %', source,
      returned, document, key_type
      using hint = 'Return the column that has the documents'' keys, or make sure that each text is such a key.';
  end if;
  for missing in
    select m.* from rowrelay.missing_indexes(rowrelay.keys_statement(relation, resolved, key_type, '''[]''::json')) as m
  loop
    if missing.creation is null then
      raise warning 'document "%": each change of % reads the whole of % (% rows) to find the documents', document,
        relation, missing.relation, missing.rows;
    else
      raise warning 'document "%": each change of % reads the whole of % (% rows) to find the documents: an index is '
        'missing', document, relation, missing.relation, missing.rows
        using hint = format('Create it with psql at the source: %s', missing.creation);
    end if;
  end loop;
end
$$;
