-- Purpose:    adds a document: rows or JSON that a query builds from several tables, maintained at a target. Captures
--             its tables where they are not captured yet. rowrelay.rebuild() or rowrelay backfill builds documents of
--             existing rows.
-- Parameters: name: name of the document, and of the table at the target unless into_table is given
--             target: where it goes
--             key: the column of the query's result that identifies a document
--             query: plain SQL; $1 is the array of keys to build. It returns any columns, or one json or jsonb
--             sources: the tables that it is built from, as TABLE:COLUMN (a column with the document's key) or
--               TABLE:QUERY (a query that returns keys for the rows of "changed"). The first one has to be a column,
--               which has all keys. TABLE:COLUMN(columns...) or TABLE(columns...):QUERY: updates of other columns
--               change no document.
--             create_table: create the table, and add columns that it lacks
--             search: columns for full-text search: adds a column "search" with an index
--             lock_wait: how long to try to lock all of its tables, since no writer may continue with a trigger
--               function that does not know the document
-- Result:     its id
-- Errors:     no such target, or one that keeps every change; the query cannot be run; sources that do not match.
--             Warnings: the query reads tables that no source names, or whole tables.
create or replace function rowrelay.add_document(
  name text, target text, key text, query text, sources text[], into_table text default null,
  create_table boolean default false, search text[] default null, lock_wait interval default '1 min') returns integer
language plpgsql security definer set standard_conforming_strings = on as $$ -- as in processes that build documents
declare
  delivers_to rowrelay.target;
  source      record;
  root        record;
  column_type regtype;
  tables      regclass[] := '{}';
  captured    rowrelay.capture;
  checked     record;
  key_type    regtype;
  own_target  integer;
  own_capture integer;
  changed     integer[] := '{}';
  statement   text := regexp_replace(query, E'[;\\s]+$', '');
  is_table    boolean;
  build       text;
  columns     jsonb;
  one         record;
  thousand    record;
  missing     text;
begin
  perform rowrelay.check_target_name(name);
  select t.* into delivers_to from rowrelay.target t where t.id = rowrelay.target_id(add_document.target);
  if exists (select from rowrelay.document d where d.target = delivers_to.id) then
    raise exception '"%" is a document, not a target', add_document.target using errcode = 'invalid_parameter_value';
  end if;
  if delivers_to.options ->> 'mode' = 'append' then
    raise exception 'target "%" keeps every change, so it cannot hold documents', add_document.target
      using errcode = 'invalid_parameter_value', hint = 'Add a target that mirrors rows: '
               || rowrelay.command('rowrelay target add NAME %s', 'select rowrelay.add_target(''NAME'', %L);',
                                   delivers_to.url);
  end if;
  if coalesce(cardinality(sources), 0) = 0 then
    raise exception 'document "%" has no sources', name using errcode = 'invalid_parameter_value',
      hint = 'Name its tables as TABLE:COLUMN or TABLE:QUERY.';
  end if;
  is_table := delivers_to.url ~ '^postgres';

  select p.* into root from rowrelay.document_source_parts(sources[1]) as p;
  if root.key_column is null then
    raise exception 'the first source must be TABLE:COLUMN, not the query "%"', sources[1]
      using errcode = 'invalid_parameter_value',
        hint = 'Name the table and column that have the keys of all documents.';
  end if;
  select rowrelay.base_type(a.atttypid)::regtype into key_type
    from pg_attribute a where a.attrelid = root.relation and a.attnum = root.key_column;
  if key_type <> all ('{int2,int4,int8,oid,numeric,text,varchar,bpchar,name,uuid,date}'::regtype[])
     or not rowrelay.key_is_exact(root.relation, array[root.key_column]) then
    raise exception 'the key of a document cannot be of type %', key_type using errcode = 'invalid_parameter_value',
      hint = 'It may be an integer, numeric, text, uuid or date.';
  end if;

  select c.* into checked from rowrelay.check_document_query(name, statement, key, key_type) as c;
  columns := case when checked.is_json
                  -- with -1 it is bpchar, not char(1)
                  then jsonb_build_array(jsonb_build_object('name', key, 'type', format_type(key_type, -1)))
                         || case when is_table then jsonb_build_array(jsonb_build_object('name', 'document', 'type',
                             'jsonb')) else '[]' end
                  else checked.columns end;
  if search is not null then
    select string_agg(format('"%s"', s), ', ') into missing
      from unnest(search) as s
     where not exists (select from jsonb_array_elements(columns) as c
                        where c ->> 'name' = s and c ->> 'type' ~ '^(text|character|json|jsonb|name)');
    if missing is not null or not is_table then
      raise exception 'document "%" cannot be searched by %', name, coalesce(missing, 'columns')
        using errcode = 'invalid_parameter_value',
              hint = 'Name columns of the query''s result of type text, varchar, json or jsonb; only PostgreSQL '
                     'targets have search.';
    end if;
    columns := columns || jsonb_build_object('name', 'search', 'index', 'gin', 'type',
      format('tsvector generated always as (%s) stored',
             (select string_agg(case
                                when c ->> 'type' ~ '^json'
                                  then format('to_tsvector(''simple'', coalesce(%I, ''{}''))', s)
                                     else format('to_tsvector(''simple'', coalesce(%I, ''''))', s) end, ' || ')
                from unnest(search) as s join jsonb_array_elements(columns) as c on c ->> 'name' = s)));
  end if;
  -- The first mention of $1 sets its type.
  build := format('with "the keys" as (select $1::%s[]) ', rowrelay.document_key_type(key_type)) || case
    when checked.is_json then
      format(E'select %s, %s from (%s\n) as d(j)',
             rowrelay.document_key_text(format('d.j operator(pg_catalog.->>) %L', key), key_type),
             case when is_table
                  then format('pg_catalog.json_build_object(%1$L, d.j operator(pg_catalog.->) %1$L, ''document'', '
                              'd.j)', key)
                  else 'd.j' end, statement)
    else
      format(E'select %s, pg_catalog.row_to_json(d) from (%s\n) as d',
             rowrelay.document_key_text(format('d.%I', key), key_type), statement)
    end;

  for source in
    select p.*, u.text
      from unnest(sources) with ordinality as u(text, position)
      cross join lateral rowrelay.document_source_parts(u.text) as p
     order by u.position
  loop
    if source.key_column is not null then
      select rowrelay.base_type(a.atttypid)::regtype into column_type
        from pg_attribute a where a.attrelid = source.relation and a.attnum = source.key_column;
      -- Equal keys must have equal texts in all tables.
      if column_type <> key_type and not (array[column_type, key_type] <@ '{int2,int4,int8,oid}'::regtype[]
                                          or array[column_type, key_type] <@ '{text,varchar,name}'::regtype[]) then
        raise exception 'the column in "%" is of type %, but the keys are of type %', source.text, column_type, key_type
          using errcode = 'datatype_mismatch',
            hint = 'Write TABLE:QUERY, with a query that returns keys for the rows of "changed".';
      end if;
    else
      begin
        execute format('create temporary view rowrelay_keys_check as %s',
                       rowrelay.keys_statement(source.relation, source.keys_query, key_type, 'null'));
        execute 'drop view pg_temp.rowrelay_keys_check';
      exception when others then
        raise exception 'the query in "%" cannot be run: %', source.text, sqlerrm using errcode = sqlstate,
          hint = 'It must return one column, the documents'' keys; "changed" stands for the changed rows of the table.';
      end;
    end if;
    -- all tables that get triggers
    captured.relation := source.relation;
    tables := tables || rowrelay.captured_tables(captured);
  end loop;
  select string_agg(r::text, ', ') into missing from unnest(checked.reads) as r where r <> all (tables);
  if missing is not null then
    raise warning 'document "%" reads %, which no source names: changes there will not refresh it', name, missing;
  end if;
  select c.* into one from rowrelay.document_cost(statement, key_type,
    format('select %I from %s limit 1', (rowrelay.attribute_names(root.relation, array[root.key_column]))[1],
           root.relation)) as c;
  select c.* into thousand from rowrelay.document_cost(statement, key_type,
    format('select %I from %s limit 1000', (rowrelay.attribute_names(root.relation, array[root.key_column]))[1],
           root.relation)) as c;
  if one.cost is not null then
    raise notice 'document "%": the planner''s cost is % for one key, % for a thousand', name, one.cost, thousand.cost;
  end if;
  if one.whole_tables is not null then
    raise warning 'document "%" reads the whole of % to build one document: an index is missing', name,
      one.whole_tables;
  end if;

  -- All that takes time is done: from here to the commit writers of these tables wait. All are locked together, so that
  -- none stays locked while another is not free.
  perform rowrelay.lock_tables(array(select u.relation from unnest(tables) with ordinality as u(relation, position)
                                      group by u.relation order by min(u.position)), 'share row exclusive', lock_wait);

  insert into rowrelay.target as t (name, url, options, lanes)
  values (add_document.name, delivers_to.url, '{}', 128)
  returning t.id into own_target;
  perform rowrelay.add_lanes(own_target);
  insert into rowrelay.capture as c (relation, relation_name, key_columns, key_names, key_is_exact,
                                     exclude_columns, mask,
                                     before, capture_origin, released_at)
  values (0, add_document.name, '{1}', array[key], true, '{}', '{}', 'none', false, now())
  returning c.id into own_capture;
  insert into rowrelay.route (capture, target, into_table, create_table, from_id)
  values (own_capture, own_target, coalesce(add_document.into_table, quote_ident(add_document.name)), create_table,
          rowrelay.last_change_id());
  insert into rowrelay.document (target, delivers_to, capture, key_name, key_type, query, search_path,
                                 build_query, columns)
  values (own_target, delivers_to.id, own_capture, key, key_type, statement,
          -- "$user" is another role where it is built
          coalesce((select string_agg(quote_ident(s), ', ') from unnest(current_schemas(false)) as s), 'pg_catalog'),
            build, columns);

  for source in
    select p.*, u.position, u.text
      from unnest(sources) with ordinality as u(text, position)
      cross join lateral rowrelay.document_source_parts(u.text) as p
     order by u.position
  loop
    select c.* into captured from rowrelay.capture c where c.relation = source.relation and c.released_at is null;
    if not found then
      perform rowrelay.capture_table(source.relation, lock_wait => lock_wait);
      select c.* into captured from rowrelay.capture c where c.relation = source.relation and c.released_at is null;
    end if;
    if source.key_column = any (captured.exclude_columns)
       or source.key_column <> all (captured.only_columns) or captured.mask ? source.key_column::text then
      raise exception 'the column in "%" is left out or masked where table % is captured', source.text, source.relation
        using errcode = 'invalid_parameter_value',
          hint = 'Capture it with that column, by other '
                   || case when source.key_column = any (captured.exclude_columns)
                           then rowrelay.command('columns to leave out: rowrelay capture %s --exclude COLUMNS',
                                                 'columns to leave out: select rowrelay.capture_table(%L, '
                                                 'exclude => ''{COLUMNS}'');', source.relation::text)
                           when source.key_column <> all (captured.only_columns)
                           then rowrelay.command('columns: rowrelay capture %s --columns COLUMNS',
                                                 'columns: select rowrelay.capture_table(%L, '
                                                 'columns => ''{COLUMNS}'');', source.relation::text)
                           else rowrelay.command('masks: rowrelay capture %s --mask COLUMN=VALUE',
                                                 'masks: select rowrelay.capture_table(%L, '
                                                 'mask => ''{"COLUMN": "VALUE"}'');', source.relation::text) end;
    end if;
    if captured.row_filter is not null then
      raise warning 'table % is captured with a row filter: changes of other rows will not refresh the document',
        source.relation;
    end if;
    if delivers_to.url ~ '^postgres(ql)?:$'
      and rowrelay.is_captured_itself(captured, coalesce(into_table, quote_ident(name))) then
      raise exception 'document "%" cannot go into table %, from which it is built', name, source.relation
        using errcode = 'invalid_parameter_value',
          hint = 'Name another table with ' || rowrelay.command('option --into', 'parameter into_table') || '.';
    end if;
    insert into rowrelay.document_source (document, position, capture, key_column, key_name, keys_query, only_columns)
    values (own_target, source.position, captured.id, source.key_column,
            (rowrelay.attribute_names(source.relation, array[source.key_column]))[1], source.keys_query,
              source.only_columns);
    changed := changed || captured.id;
  end loop;
  perform rowrelay.check_indexes(delivers_to.id);
  perform rowrelay.make_trigger_function(c) from (select distinct unnest(changed)) as u(c);
  return own_target;
exception when unique_violation then
  raise exception 'a target or document "%" already exists', name using errcode = 'duplicate_object',
    hint = case when exists (select from rowrelay.document d join rowrelay.target t on t.id = d.target
                              where t.name = add_document.name and t.dropped_at is null)
                then 'Drop it first: '
                       || rowrelay.command('rowrelay document drop %s', 'select rowrelay.drop_document(%L);', name)
                else 'Choose another name.' end;
end
$$;
