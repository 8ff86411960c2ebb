-- Purpose:    checks a document and composes what is stored of it. Nothing is stored, and no table is locked.
-- Parameters: delivers_to: the target, also a new one; path: where names are looked up; the others as for
--             rowrelay.add_document()
-- Result:     type of the keys; the query; resolved: the same with all names in full, and so keys_queries, one for
--             each source, null where it has a column; the statement that builds documents; their columns; all tables
--             that need triggers
-- Errors:     as for rowrelay.add_document(), without those of locks, with its warnings
create or replace function rowrelay.document_plan(
  name text, delivers_to rowrelay.target, key text, query text, sources text[], search text[], path text,
  out key_type regtype, out statement text, out resolved text, out keys_queries text[], out build text,
  out columns jsonb, out tables regclass[])
language plpgsql set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on as $$ -- as in processes that build documents
declare
  source      record;
  root        record;
  column_type regtype;
  captured    rowrelay.capture;
  checked     record;
  keys_query  text;
  is_table    boolean;
  one         numeric;
  thousand    numeric;
  texts       jsonb; -- names of the columns that are pushed as text
  readable    text;  -- the only column, with what cannot be read left out
  missing     text;
  missing_index record;
  is_slow     boolean := false;
  expected    bigint;
  keys        text[];
  began       timestamptz;
  took        double precision;
begin
  statement := regexp_replace(query, E'[;\\s]+$', '');
  tables := '{}';
  keys_queries := '{}';
  perform rowrelay.check_target_name(name);
  if exists (select from rowrelay.document d where d.target = delivers_to.id) then
    raise exception '"%" is a document, not a target', delivers_to.name using errcode = 'invalid_parameter_value';
  end if;
  if delivers_to.options ->> 'mode' = 'append' then
    raise exception 'target "%" keeps every change, so it cannot hold documents', delivers_to.name
      using errcode = 'invalid_parameter_value', hint = 'Add a target that mirrors rows: '
               || rowrelay.command('rowrelay target add NAME %s', 'select rowrelay.add_target(''NAME'', %L);',
                                   delivers_to.url);
  end if;
  if coalesce(cardinality(sources), 0) = 0 then
    raise exception 'document "%" has no sources', name using errcode = 'invalid_parameter_value',
      hint = 'Name its tables as TABLE:COLUMN or TABLE:QUERY.';
  end if;
  is_table := delivers_to.url ~ '^postgres';

  select p.* into root from rowrelay.document_source_parts(sources[1], path) as p;
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

  select c.* into checked from rowrelay.check_document_query(name, statement, key, key_type, path) as c;
  resolved := checked.resolved;
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
  -- A table gets json as text, because PostgreSQL reads neither \u0000 nor half of a surrogate pair within JSON.
  texts := (select jsonb_agg(case when checked.is_json then 'document' else c ->> 'name' end)
              from jsonb_array_elements(checked.columns) as c where is_table and c ->> 'type' = 'json');
  readable := case when checked.columns @> '[{"type": "json"}]' then
    $sql$case when pg_catalog.strpos(d.j::pg_catalog.text, E'\\u0000') operator(pg_catalog.>) 0
              then pg_catalog.regexp_replace(d.j::pg_catalog.text,
                                             E'(\\\\\\\\)|\\\\u0000', E'\\1', 'g')::pg_catalog.json
              else d.j end$sql$ else 'd.j' end;
  -- The first mention of $1 sets its type.
  build := format('with "the keys" as (select $1::%s[]) select ', rowrelay.document_key_type(key_type)) || case
    when checked.is_json then
      format(E'%s, %s, %L::pg_catalog.text from (%s\n) as d(j)',
             rowrelay.document_key_text(format('(%s) operator(pg_catalog.->>) %L', readable, key), key_type),
             case when is_table
                  then format('pg_catalog.json_build_object(%1$L, (%2$s) operator(pg_catalog.->) %1$L, ''document'', '
                              '%3$s)', key, readable,
                              case when texts is null then 'd.j' else 'd.j::pg_catalog.text' end)
                  else 'd.j' end, texts, resolved)
    else
      format(E'%s, %s, %L::pg_catalog.text from (%s\n) as d',
             rowrelay.document_key_text(format('d.%I', key), key_type),
             case when texts is null then 'pg_catalog.row_to_json(d.*)'
                  else format('(select pg_catalog.row_to_json(x.*) from (select %s) as x)',
                              (select string_agg(format(case when c.value ->> 'type' = 'json'
                                                             then 'd.%1$I::pg_catalog.text as %1$I'
                                                             else 'd.%1$I' end, c.value ->> 'name'), ', ' order by c.n)
                                 from jsonb_array_elements(checked.columns) with ordinality as c(value, n))) end,
             texts, resolved)
    end;

  for source in
    select p.*, u.text
      from unnest(sources) with ordinality as u(text, position)
      cross join lateral rowrelay.document_source_parts(u.text, path) as p
     order by u.position
  loop
    keys_query := null;
    if source.key_column is not null then
      select rowrelay.base_type(a.atttypid)::regtype into column_type
        from pg_attribute a where a.attrelid = source.relation and a.attnum = source.key_column;
      if not rowrelay.is_key_type(column_type, key_type) then
        raise exception 'the column in "%" is of type %, but the keys are of type %', source.text, column_type, key_type
          using errcode = 'datatype_mismatch',
            hint = 'Write TABLE:QUERY, with a query that returns keys for the rows of "changed".';
      end if;
    else
      keys_query := rowrelay.check_keys_query(name, source.text, source.relation, source.keys_query, key_type, path);
    end if;
    keys_queries := keys_queries || keys_query;
    -- all tables that get triggers
    captured.relation := source.relation;
    tables := tables || rowrelay.captured_tables(captured);
  end loop;
  select string_agg(r::text, ', ') into missing from unnest(checked.reads) as r where r <> all (tables);
  if missing is not null then
    raise warning 'document "%" reads %, which no source names: changes there will not refresh it', name, missing;
  end if;
  one := rowrelay.document_cost(resolved, key_type,
    format('select %I from %s limit 1', (rowrelay.attribute_names(root.relation, array[root.key_column]))[1],
           root.relation));
  thousand := rowrelay.document_cost(resolved, key_type,
    format('select %I from %s limit 1000', (rowrelay.attribute_names(root.relation, array[root.key_column]))[1],
           root.relation));
  for missing_index in
    select m.*
      from rowrelay.missing_indexes(regexp_replace(resolved, E'\\$1(?!\\d)',
                                                   format('(''{}''::%s[])', rowrelay.document_key_type(key_type)), 'g'))
        as m
  loop
    if missing_index.creation is null then
      raise warning 'document "%" reads the whole of % (% rows) to build one document', name, missing_index.relation,
        missing_index.rows;
    else
      raise warning 'document "%" reads the whole of % (% rows) to build one document: an index is missing', name,
        missing_index.relation, missing_index.rows
        using hint = format('Create it with psql at the source: %s', missing_index.creation);
    end if;
    is_slow := true;
  end loop;
  if one is null then
    return;
  end if;
  expected := rowrelay.estimated_rows(root.relation);
  if thousand <= 1e6 then
    -- as it will be built, with what is read lying in memory or not
    execute format('select array_agg(%s) from (select distinct %I from %s limit 100) as s(k) where k is not null',
                   rowrelay.document_key_text('k', key_type),
                   (rowrelay.attribute_names(root.relation, array[root.key_column]))[1], root.relation) into keys;
    if keys is null then
      return;
    end if;
    began := clock_timestamp();
    perform rowrelay.check_document_rows(name, build, key, key_type, keys);
    took := extract(epoch from clock_timestamp() - began);
  end if;
  if is_slow or took is null then
    raise notice 'document "%": the planner expects % documents, at a cost of % for one key, % for a thousand', name,
      expected, one, thousand;
  else
    raise notice 'document "%": some % documents; % were read in % ms, so a worker reads all of them in about %', name,
      expected, cardinality(keys), round((1000 * took)::numeric, 1),
      case when took * expected / cardinality(keys) < 60
           then ceil(took * expected / cardinality(keys)) || ' s'
           else date_trunc('minute', make_interval(secs => took * expected / cardinality(keys) + 30))::text end;
  end if;
end
$$;
