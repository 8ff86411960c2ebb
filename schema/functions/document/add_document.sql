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
--             path: where names in the query and the sources are looked up (default: as in the caller's session). They
--               are resolved once, now.
-- Result:     its id
-- Errors:     no such target, or one that keeps every change; the query cannot be run; sources that do not match.
--             Warnings: the query reads tables that no source names, or whole tables.
create or replace function rowrelay.add_document(
  name text, target text, key text, query text, sources text[], into_table text default null,
  create_table boolean default false, search text[] default null, lock_wait interval default '1 min',
  path text default rowrelay.names_path()) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on as $$ -- as in processes that build documents
declare
  delivers_to rowrelay.target;
  plan        record;
  source      record;
  captured    rowrelay.capture;
  its_capture rowrelay.capture;
  own_place   text; -- name of its table at the target
  own_target  integer;
  own_capture integer;
  schemas     name[];
  changed     integer[] := '{}';
begin
  perform set_config('search_path', path, true);
  schemas := pg_catalog.current_schemas(false);
  perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
  own_target := rowrelay.target_id(target);
  select t.* into delivers_to from rowrelay.target t where t.id = own_target;
  -- before anything warns of a document that will not be
  if exists (select from rowrelay.target t where t.name = add_document.name and t.dropped_at is null) then
    raise unique_violation;
  end if;
  own_place := coalesce(into_table, quote_ident(name));
  its_capture.id := 0;
  its_capture.relation := 0;
  perform rowrelay.check_into(its_capture, delivers_to, own_place, false);
  select p.* into plan from rowrelay.document_plan(name, delivers_to, key, query, sources, search, path) as p;

  -- All that takes time is done: from here to the commit writers of these tables wait. All are locked together, so that
  -- none stays locked while another is not free.
  perform rowrelay.lock_tables(array(select u.relation from unnest(plan.tables) with ordinality as u(relation, position)
                                      group by u.relation order by min(u.position)), 'share row exclusive', lock_wait);

  insert into rowrelay.target as t (name, url, options, lanes)
  values (add_document.name, delivers_to.url, '{}', 128)
  returning t.id into own_target;
  perform rowrelay.add_lanes(own_target);
  insert into rowrelay.capture as c (relation, relation_name, chosen_name, key_columns, key_names, key_is_exact,
                                     exclude_columns, mask,
                                     before, capture_origin, released_at)
  values (0, add_document.name, add_document.name, '{1}', array[key], true, '{}', '{}', 'none', false, now())
  returning c.id into own_capture;
  insert into rowrelay.route (capture, target, into_table, create_table, from_id)
  values (own_capture, own_target, own_place, create_table,
          rowrelay.last_change_id());
  insert into rowrelay.document (target, delivers_to, capture, key_name, key_type, query, search_path,
                                 resolved_query, build_query, columns)
  values (own_target, delivers_to.id, own_capture, key, plan.key_type, plan.statement,
          -- "$user" is another role where it is built
          coalesce((select string_agg(quote_ident(s), ', ') from unnest(schemas) as s), 'pg_catalog'),
          plan.resolved, plan.build, plan.columns);

  for source in
    select p.*, u.position, u.text
      from unnest(sources) with ordinality as u(text, position)
      cross join lateral rowrelay.document_source_parts(u.text, path) as p
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
      and rowrelay.is_captured_itself(captured, own_place) then
      raise exception 'document "%" cannot go into table %, from which it is built', name, source.relation
        using errcode = 'invalid_parameter_value',
          hint = 'Name another table with ' || rowrelay.command('option --into', 'parameter into_table') || '.';
    end if;
    insert into rowrelay.document_source (document, position, capture, relation_name, key_column, key_name, keys_query,
                                          resolved_query, only_columns)
    values (own_target, source.position, captured.id, rowrelay.full_name(source.relation), source.key_column,
            (rowrelay.attribute_names(source.relation, array[source.key_column]))[1], source.keys_query,
            plan.keys_queries[source.position], source.only_columns);
    changed := changed || captured.id;
  end loop;
  perform rowrelay.check_document_columns(c) from rowrelay.capture c where c.id = any (changed);
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
