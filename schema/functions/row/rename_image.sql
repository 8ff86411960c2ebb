-- Purpose:    a row image with its columns under other names
-- Parameters: image; names of json columns in it that are given as text; names as they are in it; what each is to be
--             called, null: left out, as is what has no name here
-- Result:     the image; the text columns under their new names
create or replace function rowrelay.rename_image(image json, texts text[], was text[], becomes text[], out renamed json,
                                                 out renamed_texts text[])
language sql immutable as $$
  select (select coalesce(json_object_agg(b.name, e.value), '{}')
            from json_each(image) as e
            join unnest(was, becomes) as b(was, name) on b.was = e.key and b.name is not null),
         array(select b.name from unnest(was, becomes) as b(was, name) where b.was = any (texts) and b.name is not null)
$$;
