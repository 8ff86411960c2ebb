-- Purpose:    proposes how to add a document, from its query alone. Nothing is stored.
-- Parameters: query: as for rowrelay.add_document()
-- Result:     for rowrelay.add_document(): key; sources; problems: what a person has to look at, such as tables from
--             which no foreign key leads to the documents
-- Errors:     the query cannot be run, or not by the caller, or compares no column with $1
create or replace function rowrelay.suggest_document(query text, out key text, out sources text[], out problems text[])
language plpgsql set standard_conforming_strings = on as $$
declare
  statement constant text := regexp_replace(query, E'[;\\s]+$', '');
  root      record;
  several   oid[];
begin
  if statement !~ E'\\$1(?!\\d)' then
    raise exception 'the query does not use $1' using errcode = 'invalid_parameter_value',
      hint = '$1 is the array of the keys to build, as in: where o.id = any ($1)';
  end if;
  select k.* into root from rowrelay.key_of_query(statement) as k;
  several := array(select t.key::oid from jsonb_each_text(root.occurrences) as t where t.value::integer > 1);
  select array_agg(s.source order by s.place) filter (where s.source is not null),
         coalesce(array_agg(distinct s.problem) filter (where s.problem is not null), '{}')
    into sources, problems
    from rowrelay.suggest_sources(root.root, root.key_column,
                                  rowrelay.columns_read('pg_temp.rowrelay_document_check'::regclass), several)
         with ordinality as s(source, problem, place);
  execute 'drop view pg_temp.rowrelay_document_check';
  key := coalesce(root.output, (rowrelay.attribute_names(root.root, array[root.key_column]))[1]);
  if root.output is null then
    problems := problems || format('no column of the result is %s.%I: name the key with --key', root.root, key);
  end if;
  if statement ~* E'\\mwith\\s+recursive\\M' then
    problems := problems || 'the query is recursive: --from follows one step of a tree, not all'::text;
  end if;
end
$$;
