-- Purpose:    tells how to read the values of a row image as texts
-- Parameters: change; image. The result is the same for every image with the same columns, and arrays or objects in
--             the same of them, whose change has the same shape and the same caveat text_columns.
-- Result:     names: the columns that can be written, null: none; expressions: SQL for their texts, where i.image is
--             the image; called and becomes: names of the columns in the image and now, null: they are the same
-- Errors:     other columns were left out or masked then than now; a column of the image no longer exists
create or replace function rowrelay.text_columns(change rowrelay.change, image json, out names text[],
                                                 out expressions text, out called text[], out becomes text[])
language plpgsql stable set search_path = pg_catalog, pg_temp set quote_all_identifiers = off as $$
declare
  capture rowrelay.capture;
  shape   rowrelay.shape;
  renamed record;
  texts   text[] := array(select json_array_elements_text(change.caveat -> 'text_columns'));
  unknown text;
begin
  select c.* into strict capture from rowrelay.capture c where c.id = change.capture;
  shape := rowrelay.image_shape(change, image);
  if exists (select from rowrelay.current_shape(capture) as n
              where not (shape.hidden operator(pg_catalog.<@) n.hidden)
                 or exists (select from json_object_keys(shape.masks) as m(name)
                             where n.masks -> (select a.attname from pg_attribute a
                                                where a.attrelid = capture.relation
                                                  and a.attnum = shape.numbers[array_position(shape.names, m.name)]
                                                  and not a.attisdropped)::text is null)) then
    raise exception 'when change % of table % was captured, other columns were left out or masked than now',
      change.id, capture.relation
      using errcode = 'object_not_in_prerequisite_state', hint = 'Correct the row by hand.';
  end if;
  becomes := rowrelay.attribute_names(capture.relation, shape.numbers);
  if becomes <> shape.names then
    called := shape.names;
    select r.* into renamed from rowrelay.rename_image(image, texts, called, becomes) as r;
    image := renamed.renamed;
    texts := renamed.renamed_texts;
  else
    becomes := null;
  end if;
  select string_agg(format('"%s"', e.key), ', ') into unknown
    from json_object_keys(image) as e(key)
   where not exists (select from pg_attribute a
                      where a.attrelid = capture.relation and a.attname = e.key and a.attnum > 0
                        and not a.attisdropped);
  if unknown is not null then
    raise exception 'the log has values of column % of table %, which no longer exists', unknown, capture.relation
      using errcode = 'undefined_column',
            hint = 'If it was renamed, restore its name for the undo; else correct the row by hand.';
  end if;

  select array_agg(a.attname::text order by a.attnum),
         string_agg(
           case
             when a.base in ('json'::regtype, 'jsonb'::regtype) then
               -- its own text; a JSON null in the image is an SQL null, except in a key, which is never null
               format(case when a.attname = any (texts)
                           then 'i.image ->> %1$L'
                           when a.attnum = any (capture.key_columns) then '(i.image -> %1$L)::text'
                           else 'case when json_typeof(i.image -> %1$L) <> ''null'' then (i.image -> %1$L)::text end'
                           end, a.attname)
             when a.base = 'money'::regtype then
               format('(i.image ->> %L)::money::numeric::text', a.attname)
             when a.is_built then
               -- not read as a row of the table: the CHECKs of its domains are the code of who owns them
               format('rowrelay.value_text(i.image -> %L, %L, '''')', a.attname,
                      rowrelay.type_structure(a.atttypid, a.atttypmod))
             else
               format('i.image ->> %L', a.attname)
           end, ', ' order by a.attnum)
    into names, expressions
    from (select p.attname, p.attnum, p.atttypid, p.atttypmod, b.base,
                 json_typeof(image -> p.attname) in ('array', 'object') as is_built
            from pg_attribute p, rowrelay.base_type(p.atttypid) as b(base)
           where p.attrelid = capture.relation and p.attnum > 0 and not p.attisdropped and p.attgenerated = ''
             and p.attname in (select json_object_keys(image))) as a;
end
$$;
