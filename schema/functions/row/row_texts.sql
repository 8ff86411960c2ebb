-- Purpose:    returns the values of a row image as texts that the columns' types read back exactly, under any session
--             settings
-- Parameters: capture; change; one of its images, null for none
-- Result:     {column: text, or null} for the columns of the image that can be written, by their present names; null
--             for null
-- Errors:     other columns were left out or masked then than now; a column of the image no longer exists
create or replace function rowrelay.row_texts(capture rowrelay.capture, change rowrelay.change, image json)
  returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, MDY' set timezone = 'UTC' set intervalstyle = 'postgres' set bytea_output = 'hex'
set extra_float_digits = 1 set lc_monetary = 'C' set quote_all_identifiers = off as $$
declare
  relation    regclass := capture.relation;
  shape       rowrelay.shape;
  becomes     text[];
  renamed     record;
  text_columns text[] := array(select json_array_elements_text(change.caveat -> 'text_columns'));
  expressions text;
  names       text[];
  unknown     text;
  texts       text[];
begin
  if image is null then
    return null;
  end if;
  shape := rowrelay.image_shape(change, image);
  if exists (select from rowrelay.current_shape(capture) as n
              where not (shape.hidden <@ n.hidden)
                 or exists (select from json_object_keys(shape.masks) as m(name)
                             where n.masks -> (select a.attname from pg_attribute a
                                                where a.attrelid = relation
                                                  and a.attnum = shape.numbers[array_position(shape.names, m.name)]
                                                  and not a.attisdropped)::text is null)) then
    raise exception 'when change % of table % was captured, other columns were left out or masked than now',
      change.id, relation
      using errcode = 'object_not_in_prerequisite_state', hint = 'Correct the row by hand.';
  end if;
  becomes := rowrelay.attribute_names(relation, shape.numbers);
  if becomes <> shape.names then
    select r.* into renamed from rowrelay.rename_image(image, text_columns, shape.names, becomes) as r;
    image := renamed.renamed;
    text_columns := renamed.renamed_texts;
  end if;
  select string_agg(format('"%s"', e.key), ', ') into unknown
    from json_object_keys(image) as e(key)
   where not exists (select from pg_attribute a
                      where a.attrelid = relation and a.attname = e.key and a.attnum > 0 and not a.attisdropped);
  if unknown is not null then
    raise exception 'the log has values of column % of table %, which no longer exists', unknown, relation
      using errcode = 'undefined_column',
            hint = 'If it was renamed, restore its name for the undo; else correct the row by hand.';
  end if;

  select array_agg(a.attname::text order by a.attnum),
         string_agg(
           case
             when a.base in ('json'::regtype, 'jsonb'::regtype) then
               -- its own text; a JSON null in the image is an SQL null, except in a key, which is never null
               format(case when a.attname = any (text_columns)
                           then '$1 ->> %1$L'
                           when a.attnum = any (capture.key_columns) then '($1 -> %1$L)::text'
                           else 'case when json_typeof($1 -> %1$L) <> ''null'' then ($1 -> %1$L)::text end' end,
                             a.attname)
             when a.base = 'money'::regtype then
               format('($1 ->> %L)::money::numeric::text', a.attname)
             when a.is_built then
               -- not read as a row of the table: the CHECKs of its domains are the code of who owns them
               format('rowrelay.value_text($1 -> %L, %L, '''')', a.attname,
                      rowrelay.type_structure(a.atttypid, a.atttypmod))
             else
               format('$1 ->> %L', a.attname)
           end, ', ' order by a.attnum)
    into names, expressions
    from (select p.attname, p.attnum, p.atttypid, p.atttypmod, b.base,
                 json_typeof(image -> p.attname) in ('array', 'object') as is_built
            from pg_attribute p, rowrelay.base_type(p.atttypid) as b(base)
           where p.attrelid = relation and p.attnum > 0 and not p.attisdropped and p.attgenerated = ''
             and p.attname in (select json_object_keys(image))) as a;
  if names is null then
    return '{}';
  end if;
  execute format('select array[%s]::text[]', expressions) into texts using image;
  return jsonb_object(names, texts);
end
$$;
