-- Purpose:    returns the body of a trigger function that captures ordinary rows of a table, and passes all others on
--             to the function beside it (rowrelay.rest_function), which captures any row. A session keeps a compiled
--             copy of each function and its plans, for each table that it writes to; so this one is short, and rows for
--             which it is not enough are rare: a key was changed, another write to the row may have been captured
--             before (rowrelay.nesting_statements), the row is large, the table was altered, the transaction leaves its
--             rows out.
--
--             Nothing in it can fail where the application's statement did not. Where all columns have built-in types,
--             and an image of a small row fits, nothing is guarded, and a row costs one expression
--             (rowrelay.has_plain_rows). Elsewhere images are made in a guarded block first: columns are left out or
--             masked, or values may have more text than their size tells. A change that cannot be captured so is passed
--             on. Passing on a large row is always guarded: see rowrelay.record_key(). See rowrelay.trigger_body() for
--             what is done with a row.
--
--             A session compiles a trigger function for each partition. Whether the table's columns are as they were is
--             asked when a plan is made, which takes longer than all else then; so partitions share a function for it.
--             It gets no row: PL/pgSQL also compiles a function for each type of a record that it gets, and one with a
--             parameter of the table's type would keep the table from being dropped.
-- Parameters: capture
-- Result:     body: declarations and statements of PL/pgSQL; null for a table without ordinary rows. known: condition
--             under which the rows are known, for the function that partitions share; null for another table
create or replace function rowrelay.ordinary_body(capture rowrelay.capture, out body text, out known text)
language plpgsql stable as $$
declare
  relation     constant regclass := capture.relation;
  key_columns  constant smallint[] := rowrelay.live_key(capture);
  lane_columns constant smallint[] := coalesce(capture.lane_columns, key_columns);
  is_firm      constant boolean := rowrelay.key_is_unique(capture);
  is_partitioned constant boolean := (select c.relkind = 'p' from pg_class c where c.oid = relation);
  keeps_before constant boolean := rowrelay.keeps_before(capture);
  row_type     constant oid := (select c.reltype from pg_class c where c.oid = relation);
  is_plain     constant boolean := rowrelay.has_plain_rows(capture) is true;
  can_move     constant boolean := rowrelay.can_change_lane(capture);
  name         constant text := rowrelay.full_name(relation);
  is_large     constant boolean := rowrelay.small_row(relation, 'new') is not null; -- some rows may be
  -- where nothing is guarded, large rows are passed on; null: there are none
  new_is_small constant text := case when is_plain then rowrelay.small_row(relation, 'new') end;
  old_is_small constant text := case when is_plain then rowrelay.small_row(relation, 'old') end;
  new_image    text := rowrelay.row_image(row_type, 'new');
  old_image    text := case when keeps_before then rowrelay.row_image(row_type, 'old') end;
  hash         text;
  left_out     text[]; -- names of columns that are left out, masked, or chosen
  new_has_key  constant text := rowrelay.has_key(relation, key_columns, 'new');
  old_has_key  constant text := rowrelay.has_key(relation, key_columns, 'old');
  has_timezone boolean;
  is_ordinary  text; -- conditions for an insert or update, and for a delete
  is_deleted   text;
  new_is_awkward text; -- conditions on the rows, null for a table without such columns
  old_is_awkward text;
  logged       text;
  branches     text;
begin
  if not is_plain and rowrelay.has_ordinary_rows(capture) is not true then
    return;
  end if;

  select case when i.keep is not null or cardinality(i.leave_out) > 0 or i.masks::text <> '{}'
              then format('rowrelay.trim_image(%s, %L, %L, %L)', new_image, i.keep, i.leave_out, i.masks)
              else new_image end,
         case when i.keep is not null or cardinality(i.leave_out) > 0 or i.masks::text <> '{}'
              then format('rowrelay.trim_image(%s, %L, %L, %L)', old_image, i.keep, i.leave_out, i.masks)
              else old_image end,
         coalesce(i.keep, i.leave_out || array(select json_object_keys(i.masks)))
    into new_image, old_image, left_out
    from rowrelay.image_columns(capture) as i;

  -- What this transaction leaves out must cost it nothing, so that is asked first.
  with pinned as materialized (
    select p.* from rowrelay.pinned_settings(relation, key_columns || lane_columns) as p
  )
  select concat_ws(E'\n     and ',
           format('not rowrelay.may_be_left_out(%L)', capture.capture_origin),
           -- a session keeps 200 bytes for each name with its schema
           format('rowrelay.row_is_unaltered(%L, %L, %L, %L)', relation::oid, array_agg(a.atttypid order by a.attnum),
                  array_agg(a.attname order by a.attnum) filter (where n.is_named),
                  array_agg(a.atttypid order by a.attnum) filter (where n.is_named)),
           rowrelay.lane_check(capture),
           case when new_image !~ '^(rowrelay.trim_image.)?pg_catalog.row_to_json' then
             rowrelay.row_check(relation, false) end,
           case when cardinality(left_out) > 0 then
             format('rowrelay.columns_are_named(%L, %L, %L)', relation::oid,
                    array_agg(a.attnum order by a.attnum) filter (where a.attname = any (left_out)),
                    array_agg(a.attname order by a.attnum) filter (where a.attname = any (left_out))) end,
           (select string_agg(format('pg_catalog.current_setting(%L) operator(pg_catalog.=) any '
                                     '(%L)', p.name, p.good), E'\n     and ' order by p.name)
              from pinned p where p.name <> 'timezone'),
           case when is_partitioned or rowrelay.may_have_heirs(capture)
                then 'not (' || rowrelay.foreign_table(capture) || ')'
                -- the function beside it asks whether it is one of another table
                else format('tg_relid operator(pg_catalog.=) %L', relation::oid) end),
         exists (select from pinned p where p.name = 'timezone')
    into known, has_timezone
    from pg_attribute a
   cross join lateral (select a.attnum = any (key_columns || lane_columns)
                              or is_plain and rowrelay.may_be_large(a.atttypid) -- rowrelay.small_row() names it
                              or a.attname in (select w.name from rowrelay.awkward_columns(relation) as w))
           as n(is_named)
   where a.attrelid = relation and a.attnum > 0 and not a.attisdropped;
  select string_agg(format(w.condition, format('new.%I', w.name)), ' or '),
         string_agg(format(w.condition, format('old.%I', w.name)), ' or ')
    into new_is_awkward, old_is_awkward
    from rowrelay.awkward_columns(relation) as w, rowrelay.image_columns(capture) as i
   where (i.keep is null or w.name = any (i.keep)) and w.name <> all (i.leave_out);
  new_is_awkward := '(' || new_is_awkward || ') is not true';
  old_is_awkward := case when keeps_before then '(' || old_is_awkward || ') is not true' end;
  is_ordinary := concat_ws(E'\n        and ', new_has_key, '(new.xmax operator(pg_catalog.=) 0 or is_last)',
                           format('(tg_op operator(pg_catalog.=) ''INSERT'' or (%s) is false)',
                                  rowrelay.rekeyed_expression(capture)), new_is_small, new_is_awkward);
  is_deleted := case when is_firm then
                  concat_ws(' and ', '(is_last or not rowrelay.may_be_back(tg_relid))', old_has_key) else 'false' end;
  logged := format('rowrelay.log_row(%s, %s, tg_op, %%s, %%s, %%s, %%s, %L)',
                   case when not has_timezone then '''''' when is_plain then 'rowrelay.pin_timezone()'
                        else 'former_timezone' end, capture.id, keeps_before);
  -- the result of the function does not matter, and a variable needs no plan
  if is_plain then
    -- a branch for deletes, because an expression is prepared as a whole, in every transaction; a deleted row has no
    -- new key
    branches := concat_ws(E'\n',
    format(E'    if (case when %s then\n      %s end) then',
           concat_ws(E'\n        and ', is_ordinary, case when keeps_before then old_is_small end, old_is_awkward),
           format(logged, rowrelay.key_expression(relation, key_columns, 'new'),
                  rowrelay.lanes_of_routes(capture.id, rowrelay.hash_expression(capture.id, relation, lane_columns,
                                                                                'new'), false),
                  case when keeps_before then
                    format('case when tg_op operator(pg_catalog.<>) ''INSERT'' then %s end', old_image)
                       else 'null' end, new_image)),
           '      return old;',
    format(E'    elsif (case when tg_op operator(pg_catalog.=) ''DELETE'' and %s then\n      %s end) then',
           concat_ws(E'\n        and ', is_deleted, case when keeps_before then old_is_small end, old_is_awkward),
           format(logged, rowrelay.key_expression(relation, key_columns, 'old'),
                  rowrelay.lanes_of_routes(capture.id, rowrelay.hash_expression(capture.id, relation, lane_columns,
                                                                                'old'), false),
                  case when keeps_before then old_image else rowrelay.key_row(capture) end, 'null')),
           '      return old;',
           '    end if;');
  else
    hash := rowrelay.hash_expression(capture.id, relation, lane_columns, 'either');
    if can_move then
      -- a row that leaves its lane is a barrier, which has no hash: see rowrelay.trigger_body()
      hash := format('case when tg_op operator(pg_catalog.=) ''INSERT'' or new_row is not null'
                     ' and %1$s operator(pg_catalog.=) %2$s and not %3$s then %1$s end',
                     rowrelay.hash_expression(capture.id, relation, lane_columns, 'new'),
                     rowrelay.hash_expression(capture.id, relation, lane_columns, 'old'),
                     rowrelay.own_version(false));
    end if;
    branches := concat_ws(E'\n',
    format(E'    if (case when %s then\n      %s end) then',
           case when keeps_before then
             'case when tg_op operator(pg_catalog.=) ''DELETE'' then old_row else new_row end is not null'
                else 'new_row is not null or tg_op operator(pg_catalog.=) ''DELETE'' and ' || is_deleted end,
           format(logged, rowrelay.key_expression(relation, key_columns, 'either'),
                  rowrelay.lanes_of_routes(capture.id, hash, can_move),
                  case when keeps_before then 'old_row' else
                    format('case when tg_op operator(pg_catalog.=) ''DELETE'' then %s end',
                           rowrelay.key_row(capture)) end, 'new_row')),
           '      return old;',
           '    end if;');
  end if;

  body := concat_ws(E'\n',
           'declare',
           -- each type that is named costs a session two kilobytes
           '  is_last found%type;',
    case when not is_plain and has_timezone then
           '  former_timezone tg_op%type;' end,
    case when not is_plain then
           '  new_row rowrelay.change.new_row%type;' end,
    case when not is_plain and keeps_before then
           '  old_row new_row%type;' end,
           'begin',
    format('  while %s', case when is_partitioned then
             format('rowrelay.%I(tg_relid)', rowrelay.known_name(capture.id)) else known end),
           '  loop',
    case when not is_plain then concat_ws(E'\n',
           '    begin',
    case when has_timezone then
           E'    former_timezone := rowrelay.pin_timezone();\n'
           '      exit when former_timezone is null;' end,
    case when keeps_before then
    format(E'    old_row := case when %s then\n        %s end;',
           concat_ws(E'\n        and ', 'tg_op operator(pg_catalog.<>) ''INSERT''', old_is_awkward,
                     format('(tg_op operator(pg_catalog.=) ''UPDATE'' or %s)', is_deleted)), old_image) end,
    format(E'    new_row := case when %s then\n        %s end;',
           concat_ws(E'\n        and ', 'tg_op operator(pg_catalog.<>) ''DELETE''',
                     case when keeps_before then '(tg_op operator(pg_catalog.=) ''INSERT'' or old_row is not null)' end,
                     is_ordinary), new_image),
           '    exception when others then', -- which also restores the time zone
           '      is_last := false;',
           '      exit;',
           '    end;') end,
           branches,
    format('    exit when %s;', case when has_timezone and not is_plain
                                    then 'rowrelay.restore_timezone(former_timezone, is_last is not null)'
                                     else 'is_last is not null' end),
           '    is_last := false;',
           '    begin',
    format('      if rowrelay.may_look(tg_relid, %s, %L)%s then', relation::oid, name,
           case when is_firm and is_partitioned then
             format(' and not rowrelay.has_foreign_parts(%L)', relation::oid) end),
           -- one expression, because a session keeps a plan for each; a text of 256 bytes takes 512 there
    format(E'        is_last := case when tg_op operator(pg_catalog.=) ''DELETE''\n'
           '          then %s',
           -- where several rows may have a key, it is never enough
           case when is_firm then
             format('not exists (select from %s%s t where %s and %s)',
                    case when not is_partitioned then 'only ' end, name,
                    rowrelay.same_key(capture, 't', 'old'), rowrelay.same_row_type('t.*', 'old.*'))
                else 'false' end),
    case when is_partitioned then
           '          else not rowrelay.is_superseded(tg_relid, new.ctid, new) end;' else
    format('          else exists (select from only %s t where t.ctid operator(pg_catalog.=) new.ctid) end;', name)
         end,
           '      end if;',
           '    exception when others then', -- then nothing is known
           '    end;',
           '  end loop;',
    -- as one value a row may be larger than PostgreSQL allows. Nothing is written where errors are caught: that would
    -- take a transaction id for each row
    case when is_large then concat_ws(E'\n',
           '  begin',
           -- never null, but an error
           '    if pg_catalog.pg_column_size(coalesce(old, new)) is null',
           '       or pg_catalog.pg_column_size(coalesce(new, old)) is null then',
           '      return old;',
           '    end if;',
           '  exception when program_limit_exceeded or out_of_memory or internal_error then',
           '    if is_last is not null then', -- so the table was as it is known
    format('      is_last := rowrelay.record_key(%s, tg_op, %s, %s, %s, sqlerrm) is null;', capture.id,
           rowrelay.key_expression(relation, key_columns, 'old'),
           rowrelay.key_expression(relation, key_columns, 'new'), rowrelay.key_row(capture)),
           '    else',
    format('      is_last := rowrelay.record_key(%s, tg_op, null, null, null, sqlerrm) is null;', capture.id),
           '    end if;',
           '    return null;',
           '  end;') end,
           -- not "return f()": plpgsql_check takes that for a mistake, and fails the writer where it runs by itself
    format('  is_last := rowrelay.%I(tg_op, tg_relid, coalesce(old, new), coalesce(new, old),',
           rowrelay.rest_name(capture.id)),
           '    new.xmax, new.xmin, new.cmin, new.ctid, old.xmax, old.xmin, old.cmax) is null;',
           '  return null;',
           'end');
  known := case when is_partitioned then known end;
end
$$;
