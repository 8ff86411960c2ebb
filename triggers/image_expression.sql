-- Purpose:    returns SQL for the image of a row, the same byte for byte as the trigger makes it
--             (rowrelay.image_statements)
-- Parameters: capture; name of the row in the statement; name of another row whose image has to take the same form,
--             null: none
-- Result:     two expressions on the row, which may be of the table, a partition or a child: the image; and
--             caveat.text_columns, an array that may be empty (null when it always is)
create or replace function rowrelay.image_expression(capture rowrelay.capture, row_name text default 'new',
                                                     other text default null,
                                                     out image text, out text_columns text)
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
  readable   text;
  whole      constant text := '(select pg_catalog.row_to_json(rowrelay_row.*) from (select %s) as rowrelay_row)';
begin
  select i.keep, i.leave_out, i.masks into keep, leave_out, masks from rowrelay.image_columns(capture) as i;

  -- the row without values that trim_image() or exact_image() cannot read
  select string_agg(case when a.is_hidden then format('null as %I', a.name) else format('%s as %I', a.value,
      a.name) end, ', '
                    order by a.place) filter (where a.any_hidden),
         string_agg(case when a.is_hidden then format('null as %I', a.name)
                         when a.condition is not null then format('case when %s then null else %s end as %I',
                                                                  a.condition, a.value, a.name)
                         else format('%s as %I', a.value, a.name) end, ', '
                    order by a.place) filter (where a.any_hidden or a.any_condition)
    into readable, shown
    from (select c.place, c.name, rowrelay.safe_json(format('%I.%I', row_name, c.name), c.type) as value, w.condition,
                 coalesce(w.is_hidden, false) as is_hidden, bool_or(w.is_hidden) over () as any_hidden,
                 bool_or(w.condition is not null) over () as any_condition
            from rowrelay.current_columns(row_type) as c
            left join (select u.name, u.name <> all (keep) or u.name = any (leave_out) as is_hidden,
                              concat_ws(' or ', format(u.condition, format('%I.%I', row_name, u.name)),
                                        case when other is not null then format(u.condition,
                                            format('%I.%I', other, u.name)) end) as condition
                         from rowrelay.awkward_columns(capture.relation) as u where u.is_unreadable) as w
              on w.name = c.name) as a;

  for awkward in
    select a.* from rowrelay.awkward_columns(capture.relation) as a
     where (keep is null or a.name = any (keep)) and a.name <> all (leave_out)
  loop
    condition := format(awkward.condition, format('%I.%I', row_name, awkward.name));
    if other is not null then
      condition := condition || ' or ' || format(awkward.condition, format('%I.%I', other, awkward.name));
    end if;
    conditions := concat_ws(' or ', conditions, condition);
    names := array_append(names, awkward.name);
    texts := concat_ws(', ', texts, format('case when %s then %s end', condition,
                                             rowrelay.safe_text(format('%I.%I', row_name, awkward.name),
                                                                awkward.type)));
    if awkward.is_json then
      json_names := concat_ws(', ', json_names, format('case when %s then %L end', condition, awkward.name));
    end if;
  end loop;

  image := case when readable is not null then format(whole, readable)
                else rowrelay.row_image(row_type, row_name, case when rowrelay.has_children(capture.relation)
                                                                 then rowrelay.current_names(row_type) end) end;
  if conditions is not null then
    image := format('case when %s then rowrelay.exact_image(%s, pg_catalog.json_object(%L, array[%s])) else %s end',
                    conditions,
                    case when shown is not null then format(whole, shown) else image end,
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
