-- Purpose:    returns the statements of a trigger function that make the row images. For most tables that is only
--             row_to_json; columns that are left out or masked, and values that JSON does not preserve, need more.
-- Parameters: capture; whether to keep the image before; whether every change has both rows
-- Result:     declarations; statements; expression for the column caveat, null when it is always null; restore: what
--             gives the rows back what the statements took out of them, for rowrelay.record_row(); null: nothing
create or replace function rowrelay.image_statements(capture rowrelay.capture, keeps_before boolean,
                                                     has_both boolean, out declarations text, out statements text,
                                                     out caveat text, out restore text)
language plpgsql stable as $$
declare
  relation   regclass := capture.relation;
  keep       text[];
  leave_out  text[];
  masks      json;
  row_type   oid;
  own        text[]; -- the table's columns: an inheritance child's own ones are not captured
  plain      text;
  same_names text;
  awkward    record;
  condition  text;
  conditions text;
  names      text[];
  new_texts  text;
  old_texts  text;
  json_names text;
  hiding     text;
  hidden     text;
  given      constant text := concat_ws(E'\n', '    given_new := new;',
                                        case when keeps_before then '    given_old := old;' end, '    given := true;');
begin
  select i.keep, i.leave_out, i.masks into keep, leave_out, masks from rowrelay.image_columns(capture) as i;
  select c.reltype into row_type from pg_class c where c.oid = relation;
  if rowrelay.has_children(relation) then
    own := rowrelay.current_names(row_type);
  end if;
  plain := format('    new_row := %s;', rowrelay.row_image(row_type, 'new', own));
  if keeps_before then
    plain := plain || format(E'\n    old_row := %s;', rowrelay.row_image(row_type, 'old', own));
  end if;

  -- A left-out column that was renamed would be captured under its new name. So the guard checks the columns' names in
  -- the catalog cache, which is cheap, and correct even if this transaction cannot see the alteration yet.
  select string_agg(
      format('(pg_catalog.pg_identify_object_as_address(%s, %s, %s)).object_names[3] operator(pg_catalog.=) %L',
                           'pg_class'::regclass::oid, relation::oid, a.attnum, a.attname),
                    E'\n        and ' order by a.attnum)
    into same_names
    from pg_attribute a
   where a.attrelid = relation and a.attnum > 0 and not a.attisdropped
     and a.attname = any (coalesce(keep, leave_out || array(select json_object_keys(masks))));

  -- trim_image() has to read left-out columns too, so unreadable ones are set to null.
  select string_agg(concat_ws(E'\n', format('    new.%I := null;', a.name),
                              case when keeps_before then format('    old.%I := null;', a.name) end), E'\n')
    into hidden
    from rowrelay.awkward_columns(relation) as a
   where a.is_unreadable and (a.name <> all (keep) or a.name = any (leave_out));

  for awkward in
    select a.* from rowrelay.awkward_columns(relation) as a
     where (keep is null or a.name = any (keep)) and a.name <> all (leave_out)
  loop
    -- Both images take the same form, because text_columns applies to both.
    condition := format(awkward.condition, format('new.%I', awkward.name));
    if keeps_before then
      condition := condition || ' or ' || format(awkward.condition, format('old.%I', awkward.name));
    end if;
    conditions := concat_ws(E'\n       or ', conditions, condition);
    names := array_append(names, awkward.name);
    new_texts := concat_ws(E',\n          ', new_texts,
      format('case when %s then %s end', condition, rowrelay.safe_text(format('new.%I', awkward.name), awkward.type)));
    old_texts := concat_ws(E',\n          ', old_texts,
      format('case when %s then %s end', condition, rowrelay.safe_text(format('old.%I', awkward.name), awkward.type)));
    if awkward.is_json then
      json_names := concat_ws(E'\n', json_names, format('      if %s then', condition),
        format('        text_columns := pg_catalog.array_append(text_columns, %L);', awkward.name),
        '      end if;');
    end if;
    if awkward.is_unreadable then
      -- exact_image() and trim_image() cannot read \u0000 and the like
      hiding := concat_ws(E'\n', hiding, format('      if %s then', condition),
        format('        new.%I := null;', awkward.name),
        case when keeps_before then format('        old.%I := null;', awkward.name) end,
        '      end if;');
    end if;
  end loop;

  declarations := nullif(concat_ws(E'\n',
    case when conditions is not null then
           '  new_texts pg_catalog.json;' end,
    case when conditions is not null and keeps_before then
           '  old_texts pg_catalog.json;' end,
    case when json_names is not null then
           '  text_columns pg_catalog.text[];' end,
    case when coalesce(hidden, hiding) is not null then
           E'  given     pg_catalog.bool;\n  given_new pg_catalog.record;' end,
    case when coalesce(hidden, hiding) is not null and keeps_before then
           '  given_old pg_catalog.record;' end), '');
  if coalesce(hidden, hiding) is not null then
    restore := concat_ws(E'\n',
             '      if given then',
             '        if tg_op operator(pg_catalog.<>) ''DELETE'' then',
             '          new := given_new;',
             '        end if;',
      case when keeps_before then concat_ws(E'\n',
             '        if tg_op operator(pg_catalog.<>) ''INSERT'' then',
             '          old := given_old;',
             '        end if;') end,
             '      end if;');
  end if;
  if json_names is not null then
    caveat := 'case when text_columns is not null then pg_catalog.json_build_object(''text_columns'', '
              'text_columns) end';
  end if;
  statements := concat_ws(E'\n',
    case when same_names is not null then concat_ws(E'\n',
      format('    if (%s) is not true then', same_names),
             '      raise exception ''a column was renamed'';',
             '    end if;') end,
    case when hidden is not null then concat_ws(E'\n', given, hidden) end,
    case when conditions is null then plain else concat_ws(E'\n',
      format('    if %s then', conditions),
      -- from arrays, because a function takes at most 100 arguments
      format(E'      new_texts := pg_catalog.json_object(%L, array[\n          %s]);', names, new_texts),
      case when keeps_before then
      format(E'      old_texts := pg_catalog.json_object(%L, array[\n          %s]);', names, old_texts) end,
      json_names,
      case when hidden is null and hiding is not null then given end,
      hiding,
             '      new_row := rowrelay.exact_image(' || rowrelay.row_image(row_type, 'new', own) || ', new_texts);',
      case when keeps_before then
             '      old_row := rowrelay.exact_image(' || rowrelay.row_image(row_type, 'old', own)
               || ', old_texts);' end,
             '    else',
      plain,
             '    end if;') end,
    case when keep is not null or cardinality(leave_out) > 0 or masks::text <> '{}' then concat_ws(E'\n',
      format('    new_row := rowrelay.trim_image(new_row, %L, %L, %L);', keep, leave_out, masks),
      case when keeps_before then
      format('    old_row := rowrelay.trim_image(old_row, %L, %L, %L);', keep, leave_out, masks) end) end,
    -- With a filter an update may count as insert or delete, but has both rows; so has a row that was assigned to
    -- above.
    case when has_both or capture.row_filter is not null or hiding is not null or hidden is not null then
      concat_ws(E'\n',
             '    if op operator(pg_catalog.=) ''d'' then',
             '      new_row := null;',
             '    end if;',
      case when keeps_before then concat_ws(E'\n',
             '    if op operator(pg_catalog.=) ''i'' then',
             '      old_row := null;',
             '    end if;') end) end);
end
$$;
