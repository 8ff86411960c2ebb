-- Purpose:    SQL for the image of a row that is there, for reading many at once: the same image that the trigger makes
--             of a row when it is written (rowrelay.image_statements), byte for byte
-- Parameters: capture; its table, or the partition or inheritance child that holds the row
-- Result:     two expressions on a row called new, which need not have columns that only a child has: the image, and what caveat.text_columns is, an array that may be empty
--             (null when it always is)
create or replace function rowrelay.image_expression(capture rowrelay.capture, relation regclass, out image text,
                                                     out text_columns text)
language plpgsql stable as $$
declare
  keep       text[];
  leave_out  text[];
  masks      json;
  awkward    record;
  condition  text;
  conditions text;
  names      text[];
  texts      text;
  json_names text;
  shown      text;
begin
  select i.keep, i.leave_out, i.masks into keep, leave_out, masks from rowrelay.image_columns(capture) as i;

  -- the row with what exact_image() cannot read taken out
  select string_agg(case when w.name is null then format('new.%I', a.attname)
                         else format('case when %s then null else new.%I end as %I',
                                     format(w.condition, format('new.%I', a.attname)), a.attname, a.attname) end,
                    ', ' order by a.attnum)
    into shown
    from pg_attribute a
    left join (select u.name, u.condition from rowrelay.awkward_columns(capture.relation) u
                where u.is_unreadable and (keep is null or u.name = any (keep)) and u.name <> all (leave_out)) w
           on w.name = a.attname
   where a.attrelid = image_expression.relation and a.attnum > 0 and not a.attisdropped
     and exists (select from pg_attribute p
                  where p.attrelid = capture.relation and p.attname = a.attname and not p.attisdropped)
  having bool_or(w.name is not null);

  for awkward in
    select a.name, a.condition, a.is_json from rowrelay.awkward_columns(capture.relation) a
     where (keep is null or a.name = any (keep)) and a.name <> all (leave_out)
  loop
    condition := format(awkward.condition, format('new.%I', awkward.name));
    conditions := concat_ws(' or ', conditions, condition);
    names := array_append(names, awkward.name);
    texts := concat_ws(', ', texts, format('case when %s then new.%I::pg_catalog.text end', condition, awkward.name));
    if awkward.is_json then
      json_names := concat_ws(', ', json_names, format('case when %s then %L end', condition, awkward.name));
    end if;
  end loop;

  image := 'pg_catalog.row_to_json(new)';
  if conditions is not null then
    image := format('case when %s then rowrelay.exact_image(%s, pg_catalog.json_object(%L, array[%s])) else %s end',
                    conditions,
                    coalesce(format('(select pg_catalog.row_to_json(shown) from (select %s) as shown)', shown), image),
                    names, texts, image);
  end if;
  if keep is not null or cardinality(leave_out) > 0 or masks::text <> '{}' then
    image := format('rowrelay.trim_image(%s, %L, %L, %L)', image, keep, leave_out, masks);
  end if;
  text_columns := format('pg_catalog.array_remove(array[%s]::pg_catalog.text[], null)', json_names);
  if json_names is null then
    text_columns := null;
  end if;
end
$$;
