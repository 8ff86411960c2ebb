-- Purpose:    returns a row filter as a trigger's WHEN needs it, with the row's name before each column. PostgreSQL
--             itself parses and prints the condition: this creates a view with it and takes the view's text.
--             standard_conforming_strings is fixed, because the session that creates the trigger may have another
--             setting.
-- Parameters: relation; condition as a person writes it, such as  status = 'open'; name of the row, new or old; path:
--             where its names are looked up
-- Result:     the condition with all names resolved, so that it means the same under any search_path
-- Errors:     the condition is not valid; detail is PostgreSQL's message. One of triggers, which only they need for the
--             old row, names a virtual generated column: when that gets another expression, nothing tells that rows no
--             longer match, so they would stay at targets
create or replace function rowrelay.filter_expression(relation regclass, row_filter text, row_name text,
                                                      path text) returns text
language plpgsql set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
declare
  definition text;
  virtual    record;
  full_name  constant text := rowrelay.full_name(relation);
  view_name  text := 'filter_probe_' || pg_backend_pid(); -- other sessions may do the same
begin
  begin
    perform set_config('search_path', path, true);
    -- the second table makes PostgreSQL write names in full
    execute pg_catalog.format('create view rowrelay.%I as select (%s)::pg_catalog.bool as rowrelay_filter '
                              'from %s as rowrelay_row, (values (1)) as rowrelay_other (rowrelay_other)', view_name,
                              row_filter, full_name);
    perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
  exception when syntax_error or undefined_column or undefined_function or undefined_table or cannot_coerce then
    raise exception 'row filter "%" of table % is not a condition on its columns', row_filter, relation
      using errcode = 'invalid_parameter_value', detail = sqlerrm,
            hint = 'Write it as in a WHERE clause, such as  status = ''open''.';
  end;
  select a.attname, pg_get_expr(e.adbin, e.adrelid) as expression into virtual
    from pg_rewrite r
    join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid
    join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid and a.attgenerated = 'v'
    join pg_attrdef e on e.adrelid = a.attrelid and e.adnum = a.attnum
   where row_name = 'old' and d.refobjid = filter_expression.relation
     and r.ev_class = format('rowrelay.%I', view_name)::regclass;
  if found then
    raise exception 'row filter "%" of table % names virtual generated column %', row_filter, relation, virtual.attname
      using errcode = 'invalid_parameter_value', hint = 'Write its expression instead: ' || virtual.expression;
  end if;
  definition := pg_get_viewdef(format('rowrelay.%I', view_name)::regclass);
  execute format('drop view rowrelay.%I', view_name);
  definition := substring(definition from E'^\\s*SELECT\\s+(.*)\\s+AS rowrelay_filter\\s+FROM');
  return regexp_replace(definition, E'\\mrowrelay_row\\.', row_name || '.', 'g');
end
$$;
