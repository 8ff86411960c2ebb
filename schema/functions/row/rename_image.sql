-- Purpose:    renames the columns of a row image
-- Parameters: image; names of json columns that it has as text; old names; new names, null: the column is left out, as
--             are columns that are not listed
-- Result:     the image; the new names of the json columns that it has as text
create or replace function rowrelay.rename_image(image json, texts text[], was text[], becomes text[], out renamed json,
                                                 out renamed_texts text[])
language sql immutable as $$
  select (select coalesce(json_object_agg(b.name, e.value), '{}')
            from json_each(image) as e
            join unnest(was, becomes) as b(was, name) on b.was = e.key and b.name is not null),
         array(select b.name from unnest(was, becomes) as b(was, name) where b.was = any (texts) and b.name is not null)
$$;
