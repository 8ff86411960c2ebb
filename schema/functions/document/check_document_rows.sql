-- Purpose:    builds some documents, as a process would, and refuses a query that does not return one row for each key.
--             Only data can show that: where tables are empty, a process says it later.
-- Parameters: name, for messages; build: as rowrelay.document_plan() composes it; key and key_type: of the documents;
--             keys: those that are built, as rowrelay.document_key_text() writes them
-- Errors:     the query fails; it returns rows without a key, rows of keys that were not asked for, or several for one
create or replace function rowrelay.check_document_rows(name text, build text, key text, key_type regtype, keys text[])
  returns void
language plpgsql set standard_conforming_strings = on as $$ -- as in processes that build documents
declare
  returned   text[];
  strange    text;
  repeated   text;
  words      text;
  hint_words text;
begin
  begin
    execute format('select array_agg(b.k) from (%s) as b(k, r)', regexp_replace(build, E'\\$1(?!\\d)',
      format('(%L::%s[])', replace(keys::text, E'\\', E'\\\\'), rowrelay.document_key_type(key_type)), 'g'))
       into returned;
  exception when others then
    get stacked diagnostics words = message_text, hint_words = pg_exception_hint;
    raise exception 'the query of document "%" fails: %', name, words using errcode = sqlstate,
      hint = coalesce(nullif(hint_words, ''), case
        when sqlstate in ('42P01', '42883', '42704')
        then 'Functions that it calls have to name schemas, or to have a search_path of their own (alter function).'
        else format('Its key "%s" has to be of type %s.', key, key_type) end);
  end;
  select coalesce(quote_literal(min(r)), 'null') into strange
    from unnest(returned) as r where r is null or r <> all (keys) having count(*) > 0;
  if strange is not null then
    raise exception 'the query of document "%" returns a row whose "%" is %, which is none of the keys in $1', name,
      key, strange
      using errcode = 'invalid_parameter_value',
        hint = 'Name as key what the query compares with $1.';
  end if;
  select quote_literal(min(t.r)) into repeated
    from (select r from unnest(returned) as r group by r having count(*) > 1) as t;
  if repeated is not null then
    raise exception 'the query of document "%" returns several rows whose "%" is %', name, key, repeated
      using errcode = 'cardinality_violation',
        hint = 'A document is one row: gather what is many, as with string_agg() or jsonb_agg() and group by, or make '
               'the key that of the table that has many.';
  end if;
end
$$;
