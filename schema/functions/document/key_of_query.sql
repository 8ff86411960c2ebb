-- Purpose:    finds which column a document's query compares with $1, by its plan; makes the temporary view
--             rowrelay_document_check of it
-- Parameters: query
-- Result:     root and key_column: that column; output: the column of the result that returns it, null: not known;
--             occurrences: {"oid of a table": how often the plan reads it}
-- Errors:     the query cannot be run, or compares no column with $1
create or replace function rowrelay.key_of_query(query text, out root regclass, out key_column smallint,
                                                 out output text, out occurrences jsonb)
language plpgsql as $$
declare
  -- values by which the comparison is found again in the plan
  sample    record;
  statement text;
  plan      json;
  key_found record;
  place     bigint;
  words     text;
  state     text;
  own_path  constant text := current_setting('search_path');
  path      constant text := rowrelay.names_path();
begin
  for sample in
    select * from (values ('int8', '7205759403792793601', '7205759403792793602'),
                          -- where the query casts them to a smaller type
                          ('int4', '2147480001', '2147480002'), ('int2', '32001', '32002'),
                          ('text', 'rowrelay:1', 'rowrelay:2'),
                          ('uuid', '72057594-0379-2793-6017-205759403792', '72057594-0379-2793-6017-205759403793'),
                          ('numeric', '7205759403792793601', '7205759403792793602'),
                          ('date', '4713-01-02', '4713-01-03')) as v(type, one, other)
  loop
    statement := regexp_replace(query, E'\\$1(?!\\d)',
                                format('(''{%s,%s}''::pg_catalog.%I[])', sample.one, sample.other, sample.type), 'g');
    begin
      perform set_config('search_path', path, true);
      execute 'create temporary view rowrelay_document_check as ' operator(pg_catalog.||) statement;
      execute 'explain (verbose, format json) ' operator(pg_catalog.||) statement into plan;
      perform pg_catalog.set_config('search_path', own_path, true);
      words := null;
      exit;
    exception when undefined_function or datatype_mismatch or indeterminate_datatype or cannot_coerce
      or data_exception then
      get stacked diagnostics words = message_text, state = returned_sqlstate;
    when others then
      raise exception 'the query cannot be run: %', sqlerrm using errcode = sqlstate,
        hint = 'Names of tables without a schema are looked up in search_path.';
    end;
  end loop;
  if words is not null then
    raise exception 'the query cannot be run: %', words using errcode = state,
      hint = '$1 is an array of keys: integers, texts, uuids, numbers or dates.';
  end if;
  select f.* into key_found
    from (
      with recursive node(plan) as (
        select plan #> '{0,Plan}'
        union all
        select child from node cross join lateral json_array_elements(node.plan -> 'Plans') as child
      ), read as (
        select coalesce(pg_partition_root(c.oid)::oid, c.oid) as oid, n.plan ->> 'Alias' as alias, n.plan
          from node n
          join pg_namespace s on s.nspname = n.plan ->> 'Schema'
          join pg_class c on c.relnamespace = s.oid and c.relname = n.plan ->> 'Relation Name'
      ), compared as (
        select distinct on (r.oid, m[1]) r.oid, r.alias, m[1] as name
          from read r
          cross join lateral json_each_text(r.plan) as o
          cross join lateral regexp_matches(o.value,
            regexp_replace(quote_ident(r.alias), '([^[:alnum:]_])', E'\\\\\\1', 'g')
              || '[.]("(?:[^"]|"")+"|[[:alpha:]_][[:alnum:]_$]*)[)]*(?:::[a-z ]+)?[)]* = ANY [(]*''[{]"?'
              || replace(sample.one, '.', '[.]'), 'g') as m
         where o.key in ('Filter', 'Index Cond', 'Recheck Cond')
      )
      select c.oid, c.alias, c.name, a.attnum,
             (select jsonb_object_agg(t.oid, t.times)
                from (select r.oid, count(distinct r.alias) as times from read r
                       where not exists (select from pg_class p where p.oid = r.oid and p.relkind = 'p')
                       group by 1) as t) as times
        from compared c
        join pg_attribute a on a.attrelid = c.oid and quote_ident(a.attname) = c.name and a.attnum > 0
       order by exists (select from pg_index i
                         where i.indrelid = c.oid and i.indisunique and i.indpred is null
                           and i.indkey::smallint[] = array[a.attnum]) desc, c.oid
       limit 1) as f;
  if key_found.oid is null then
    raise exception 'the query compares no column of a table with $1' using errcode = 'invalid_parameter_value',
      hint = '$1 is the array of the keys to build, as in: where o.id = any ($1)';
  end if;
  root := key_found.oid;
  key_column := key_found.attnum;
  occurrences := key_found.times;
  select o.place into place
    from json_array_elements_text(plan #> '{0,Plan,Output}') with ordinality as o(value, place)
   where o.value = quote_ident(key_found.alias) || '.' || key_found.name
   order by o.place limit 1;
  select a.attname into output
    from pg_attribute a
   where a.attrelid = 'pg_temp.rowrelay_document_check'::regclass
     and (a.attnum = place or place is null and quote_ident(a.attname) = key_found.name)
   limit 1;
end
$$;
