-- Purpose:    returns a value of a row image as the text that a column of some type has after it was filled with the
--             value, without reading it as that type: CHECKs of domains do not run, and the type need not exist here.
--             Only built-in types are read; a value of another one that has no parts is its text.
-- Parameters: value; types as rowrelay.type_structure() returns them; the type, a name in types; is_text: the value is
--             a string of the type's own text, rather than what json_populate_record() takes
-- Result:     the text, as the type's output function writes it; null for null
-- Errors:     the value is not valid for the type
create or replace function rowrelay.value_text(value json, types json, of_type text, is_text boolean default false)
  returns text
language plpgsql stable as $$
declare
  type      json := types -> of_type;
  is_string constant boolean := json_typeof(value) = 'string';
  parts     text[];
  bounds    text;
  result    text;
begin
  while type -> 'base' is not null loop
    type := types -> (type ->> 'base');
  end loop;
  if value is null or json_typeof(value) = 'null' then
    return null;
  elsif type -> 'fields' is not null then
    if is_string then
      -- (1,"a ""b""",) as json strings
      select array_agg(case when f.part[1] = '' then null
                            when f.part[1] ~ '^".*"$'
                              then regexp_replace(substr(f.part[1], 2, length(f.part[1]) - 2), E'\\\\(.)|"(")',
                                                  E'\\1\\2', 'g')
                            else regexp_replace(f.part[1], E'\\\\(.)', E'\\1', 'g') end)
        into parts
        from regexp_matches(substr(value #>> '{}', 2), E'((?:[^"\\\\,()]|\\\\.|"(?:[^"\\\\]|\\\\.|"")*")*)[,)]', 'g')
               as f(part);
    elsif json_typeof(value) <> 'object' then
      raise exception 'not a row: %', value using errcode = 'invalid_text_representation';
    end if;
    if is_string and cardinality(parts) <> greatest(json_array_length(type -> 'fields'), 1) then
      raise exception 'not a row of this type: %', value using errcode = 'invalid_text_representation';
    end if;
    select string_agg(case when v.text is not null then substr(row(v.text)::text, 2, length(row(v.text)::text) - 2)
                           else '' end, ',' order by v.n)
      into result
      from (select f.n, case when is_string then rowrelay.value_text(to_json(parts[f.n]), types, f.field ->> 1, true)
                             else rowrelay.value_text(value -> (f.field ->> 0), types, f.field ->> 1) end as text
              from json_array_elements(type -> 'fields') with ordinality as f(field, n)) as v;
    return format('(%s)', result);
  elsif type -> 'element' is not null then
    if not is_string and json_typeof(value) <> 'array' then
      raise exception 'not an array: %', value using errcode = 'invalid_text_representation';
    end if;
    if is_string then
      parts := (value #>> '{}')::text[];
      select case when bool_or(array_lower(parts, n) <> 1) then array_dims(parts) || '=' end into bounds
        from generate_series(1, array_ndims(parts)) as n;
      value := to_json(parts);
    end if;
    select concat(bounds, r.v) into result
      from json_to_record(json_build_object('v', rowrelay.element_texts(value, types, type ->> 'element', is_string)))
             as r(v text[]);
    return result;
  end if;

  if type -> 'type' is null or type ->> 'type' = 'text' or to_regtype(type ->> 'type') is null then
    return value #>> '{}';
  elsif is_text and type ->> 'type' in ('json', 'jsonb') then
    execute format('select concat($1::%s)', type ->> 'type') into result using value #>> '{}';
  else
    execute format('select concat(r.v) from json_to_record($1) as r(v %s)', type ->> 'type')
       into result using json_build_object('v', value);
  end if;
  return result;
end
$$;
