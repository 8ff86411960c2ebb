-- Purpose:    SQL for the image of a row that is there, for reading many at once: the same image that the trigger makes
--             of a row when it is written (rowrelay.image_statements), byte for byte
-- Parameters: capture
-- Result:     two expressions on a row called new, of the table or a partition, or of a child without columns of its own: the
--             image, and what caveat.text_columns is, an array that may be empty (null when it always is)
create or replace function rowrelay.image_expression(capture rowrelay.capture, out image text, out text_columns text)
language plpgsql stable as $$
declare
  row_type   oid := (select c.reltype from pg_class c where c.oid = capture.relation);
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
  select string_agg(format(case when w.name is null then '%1$s as %2$I' else 'case when %3$s then null else %1$s end as %2$I' end,
                           rowrelay.safe_json(format('new.%I', a.name), a.type), a.name,
                           format(w.condition, format('new.%I', a.name))),
                    ', ' order by a.place)
    into shown
    from rowrelay.current_columns(row_type) as a
    left join (select u.name, u.condition from rowrelay.awkward_columns(capture.relation) u
                where u.is_unreadable and (keep is null or u.name = any (keep)) and u.name <> all (leave_out)) w
           on w.name = a.name
  having bool_or(w.name is not null);

  for awkward in
    select a.name, a.condition, a.is_json, t.atttypid as type from rowrelay.awkward_columns(capture.relation) a
      join pg_attribute t on t.attrelid = capture.relation and t.attname = a.name
     where (keep is null or a.name = any (keep)) and a.name <> all (leave_out)
  loop
    condition := format(awkward.condition, format('new.%I', awkward.name));
    conditions := concat_ws(' or ', conditions, condition);
    names := array_append(names, awkward.name);
    texts := concat_ws(', ', texts, format('case when %s then %s end', condition,
                                             rowrelay.safe_text(format('new.%I', awkward.name), awkward.type)));
    if awkward.is_json then
      json_names := concat_ws(', ', json_names, format('case when %s then %L end', condition, awkward.name));
    end if;
  end loop;

  image := rowrelay.row_image(row_type, 'new', case when rowrelay.has_children(capture.relation) then rowrelay.current_names(row_type) end);
  if conditions is not null then
    image := format('case when %s then rowrelay.exact_image(%s, pg_catalog.json_object(%L, array[%s])) else %s end',
                    conditions,
                    coalesce('(select pg_catalog.row_to_json(rowrelay_row.*) from (select ' || shown || ') as rowrelay_row)',
                             image),
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
