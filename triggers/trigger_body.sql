-- Purpose:    returns the body of a function that captures any change of a row of a table: of the function that the
--             table's row triggers run, or of one beside it, to which that passes what it leaves
--             (rowrelay.trigger_function). It is generated for the table, so that its SQL is static and its plans are
--             cached. All names in it have their schema, even operators, so that nothing in the application's session
--             can change what is captured.
--
--             What it does with a row:
--               1. nothing, when this transaction has set rowrelay.skip or is rowrelay's own;
--               2. computes key, lane hash and images, if it knows the row's columns (rowrelay.row_is_known). Only
--                  this part could fail where the application's statement did not (a column was renamed, a row is too
--                  large), so it is guarded, and rowrelay.record_row() captures the change by the slow path instead;
--               3. writes one row to rowrelay.change, and one to rowrelay.queue for each target (rowrelay.log_change).
--                  The INSERT takes the id, when it already holds its lock on rowrelay.change: rowrelay.writers()
--                  relies on it;
--               4. wakes sleeping processes.
--             An update of a key is two changes: the old key deleted, the new one inserted. A change that takes a row
--             out of its lane, while its key stays or may return in another lane, is a barrier, because lanes are not
--             ordered among each other: see rowrelay.can_change_lane(). Writes nested in a statement are captured
--             before those of the statement: see rowrelay.nesting_statements(). So an update of a version that this
--             transaction has made is such a barrier too: what made it may have taken the row out of its lane, and
--             be captured only later.
-- Parameters: capture; whether it is a function beside the trigger's, with parameters in place of what a trigger knows
--             (rowrelay.rest_function), where each change has both rows
-- Result:     declarations and statements of PL/pgSQL
create or replace function rowrelay.trigger_body(capture rowrelay.capture, is_apart boolean) returns text
language plpgsql stable as $$
declare
  relation     regclass := capture.relation;
  key_columns  smallint[] := rowrelay.live_key(capture);
  lane_columns smallint[] := coalesce(capture.lane_columns, key_columns);
  has_key      boolean := cardinality(key_columns) > 0;
  keeps_before boolean := rowrelay.keeps_before(capture);
  -- without a key, an updated row may have been inserted in another lane
  can_move     boolean := case when has_key then rowrelay.can_change_lane(capture)
                               else coalesce(cardinality(capture.lane_columns), 0) > 0 end;
  -- with a filter the trigger's argument tells the operation: an update may count as insert or delete
  operation    text := case when capture.row_filter is null then 'tg_op' else 'tg_argv[0]' end;
  key_row      text;
  lanes        text;
  logged       text;
  pins         record;
  images       record;
  documents    record;
  nesting      record;
  -- the expressions that stand in it
  new_key      text := rowrelay.key_expression(relation, key_columns, 'new');
  old_key      text := rowrelay.key_expression(relation, key_columns, 'old');
  new_hash     text := rowrelay.hash_expression(capture.id, relation, lane_columns, 'new');
  old_hash     text := rowrelay.hash_expression(capture.id, relation, lane_columns, 'old');
  rekeyed      text := rowrelay.rekeyed_expression(capture);
  -- a row with a null in its key cannot be identified
  new_is_null  text := case when has_key then
    format('      if not (%s) then raise exception ''its key is null''; end if;',
           rowrelay.has_key(relation, key_columns, 'new')) end;
  old_is_null  text := case when has_key then
    format('      if not (%s) then raise exception ''its key is null''; end if;',
           rowrelay.has_key(relation, key_columns, 'old')) end;
  size         text;
  is_relayed   text := case
    when not capture.capture_origin then ' pg_catalog.current_setting(''rowrelay.origin'', true),' end;
  known        text := concat_ws(E'\n       and ', rowrelay.lane_check(capture),
                                 rowrelay.row_check(relation, not rowrelay.has_children(relation)
                                                    and rowrelay.row_image((select c.reltype from pg_class c
                                                        where c.oid = relation), 'new')
                                                        = 'pg_catalog.row_to_json(new.*)'));
  foreign_to   text := rowrelay.foreign_table(capture);
  -- PL/pgSQL accepts its keywords as fields of a row only after they appeared in quotes.
  own_words    text := (select string_agg(format('new."%1$s", old."%1$s"', a.attname), ', ') from pg_attribute a
                         where a.attrelid = relation and a.attnum > 0 and not a.attisdropped
                           and a.attname = any ('{begin,by,declare,execute,foreach,if,loop,strict,while}'));
begin
  select * into images from rowrelay.image_statements(capture, keeps_before, is_apart);
  size := case when keeps_before
               then 'pg_catalog.int4pl(coalesce(pg_catalog.pg_column_size(new_row), 0), '
                    'coalesce(pg_catalog.pg_column_size(old_row), 0))'
               else 'coalesce(pg_catalog.pg_column_size(new_row), 0)' end;
  select * into pins
    from rowrelay.pin_statements(relation, key_columns || lane_columns || rowrelay.document_columns(capture.id));
  key_row := rowrelay.key_row(capture);
  select * into documents from rowrelay.document_statements(capture, size, keeps_before, key_row, is_apart);
  select * into nesting
    from rowrelay.nesting_statements(capture, keeps_before, key_row, old_key, old_hash, rekeyed, can_move,
                                     documents.queueing is not null, images.caveat, is_apart);

  select string_agg(
           format(case when can_move and t.lanes > 1 then 'case when moves then %1$s else %2$s end' else '%2$s' end,
                  rowrelay.lane_number(t.id, -1) + room,
                  format('pg_catalog.int4pl(%s, pg_catalog.mod(pg_catalog.int4and(hash, 2147483647), %s))',
                         rowrelay.lane_number(t.id, 0) + room, t.lanes)),
           E',\n         ' order by t.id)
    into lanes
    from rowrelay.route r join rowrelay.target t on t.id = r.target
    cross join lateral rowrelay.waiting_room(r.capture, r.target) as room
   where r.capture = capture.id and r.until_id is null and t.dropped_at is null;

  -- Mark inserts and deletes that are really updates across the row filter.
  if capture.row_filter is not null then
    images.caveat := format('case when tg_op operator(pg_catalog.=) ''UPDATE'' and op operator(pg_catalog.<>) ''u'''
                            ' and pg_catalog.lower(tg_argv[0]) operator(pg_catalog.<>) ''update'' then %s else %s end',
                            case when images.caveat is null then '''{"filtered":true}''::pg_catalog.json'
                                 else format('pg_catalog.json_strip_nulls(pg_catalog.json_build_object(''filtered'', '
                                             'true,'
                                             ' ''text_columns'', (%s) operator(pg_catalog.->) ''text_columns''))',
                                               images.caveat) end,
                            coalesce(images.caveat, 'null'));
  end if;
  logged := format(
      'rowrelay.log_change(%s, op::pg_catalog."char", key, actor, db_user, old_row, new_row, %s, %s, %s)', capture.id,
                   coalesce(images.caveat, 'null'), coalesce('array[' || lanes || ']', 'null'), size);

  return concat_ws(E'\n',
           -- in a query of the table, whose columns have any names; all that it means by a column stands behind the
           -- name of a row
           '#variable_conflict use_variable',
           'declare',
           '  key      pg_catalog.text;',
           -- %type and text wherever possible: each type name that PostgreSQL has to look up costs a session 2 kB per
           -- table
    format('  op       key%%type := pg_catalog.left(pg_catalog.lower(%s collate pg_catalog."C"), 1);', operation),
           '  hash     pg_catalog.int4;',
           '  new_row  pg_catalog.json;',
           '  old_row  new_row%type;',
    nesting.declarations,
    case when can_move then
           '  moves    is_gone%type;' end,
    case when nesting.noted is not null or documents.queueing is not null then concat_ws(E'\n',
           '  id       pg_catalog.int8;',
           '  day      pg_catalog.date;') end,
           '  actor    key%type;',
           '  db_user  key%type;',
    images.declarations,
    documents.declarations,
    pins.declarations,
           'begin',
           -- one check of all rarely used settings
    format('  if pg_catalog.concat(pg_catalog.current_setting(''rowrelay.skip'', true),%s', is_relayed),
           '       pg_catalog.current_setting(''rowrelay.actor'', true), '
           'pg_catalog.current_setting(''rowrelay.traceparent'', true), pg_catalog.current_setting(''role'')) '
           'operator(pg_catalog.<>) ''none''',
           '  then',
    format('    if rowrelay.is_left_out(%L) then', capture.capture_origin),
           '      return null;',
           '    end if;',
           '    actor := rowrelay.actor();',
           '    db_user := rowrelay.db_user();',
           '  end if;',
           '',
    case when foreign_to is not null then concat_ws(E'\n',
    format('  if %s then', foreign_to),
           '    return null;',
           '  end if;') end,
           '  begin',
    case when own_words is not null then
      format(E'    if false then\n      key := pg_catalog.concat(%s);\n    end if;', own_words) end,
    pins.pin,
    -- first, because a row with other columns must not be processed
    format('    hash := case when %s then case when op operator(pg_catalog.<>) ''d'' then %s else %s end else '
           'rowrelay.raise_altered() end;',
           known, new_hash, old_hash),
    format('    key := case when op operator(pg_catalog.<>) ''d'' then %s else %s end;', new_key, old_key),
    case when new_is_null is not null or can_move then concat_ws(E'\n',
           '    if op operator(pg_catalog.<>) ''d'' then',
    new_is_null,
    case when old_is_null is not null then concat_ws(E'\n',
           '      if op operator(pg_catalog.=) ''u'' then',
    old_is_null,
           '      end if;') end,
    case when can_move then
      -- a key with only another spelling is the same row, so the row moves too; and an own version may have moved
      format('      moves := op operator(pg_catalog.=) ''u'' and %s(hash operator(pg_catalog.<>) %s or %s);',
             case when has_key and capture.key_is_exact then format('not (%s) and ', rekeyed) end, old_hash,
             rowrelay.own_version(is_apart)) end,
           '    end if;') end,
    case when old_is_null is not null or can_move or not keeps_before then concat_ws(E'\n',
           '    if op operator(pg_catalog.=) ''d'' then',
    case when can_move then
           '      moves := true;' end,
    old_is_null,
    case when not keeps_before then
      format('      old_row := %s;', key_row) end,
           '    end if;') end,
    nesting.guarded,
    images.statements,
    documents.guarded,
    pins.unpin,
           '  exception when others then',
           '    declare',
           '      problem key%type := sqlerrm;',
           '    begin',
    images.restore,
    -- as in rowrelay.ordinary_body()
    case when not is_apart then concat_ws(E'\n',
           '      begin',
           '        if pg_catalog.pg_column_size(coalesce(old, new)) is null',
           '           or pg_catalog.pg_column_size(coalesce(new, old)) is null then',
           '          return null;',
           '        end if;',
           '      exception when program_limit_exceeded or out_of_memory or internal_error then',
    format('        if %s then', rowrelay.key_is_unaltered(capture)),
    format('          problem := rowrelay.record_key(%s, %s, %s, %s, %s, problem);', capture.id, operation, old_key,
           new_key, key_row),
           '        else',
    format('          problem := rowrelay.record_key(%s, %s, null, null, null, problem);', capture.id, operation),
           '        end if;',
           '        return null;',
           '      end;') end,
           -- system columns such as ctid are lost after an assignment to the row
    format('      perform rowrelay.record_row(%s, %s, %s, problem, tg_relid,', capture.id, operation,
           case when is_apart or images.restore is not null -- in an INSERT, old may be a row of nulls by now
                then 'case when tg_op operator(pg_catalog.<>) ''INSERT'' then old end, '
                     'case when tg_op operator(pg_catalog.<>) ''DELETE'' then new end'
                else 'old, new' end),
    format('        coalesce(is_at::pg_catalog.tid, case when %s operator(pg_catalog.<>) 0 then %s end)%s);',
           rowrelay.system_column('new', 'xmax', is_apart), rowrelay.system_column('new', 'ctid', is_apart),
           case when not has_key then ', coalesce(was_at, old.ctid)' end),
           '      return null;',
           '    end;',
           '  end;',
           '',
    nesting.settled,
    -- an assignment is cheaper than PERFORM
    format('  is_gone := %s;', logged),
    case when nesting.noted is not null or documents.queueing is not null then concat_ws(E'\n',
             '  id := pg_catalog.currval(''rowrelay.change_id''::pg_catalog.regclass);',
             '  day := rowrelay.partition_day();') end,
    nesting.noted,
    documents.queueing,
    case when documents.queueing is not null then concat_ws(E'\n',
             '  if id operator(pg_catalog.<=) '
             'pg_catalog.pg_sequence_last_value(''rowrelay.doorbell''::pg_catalog.regclass) then',
             '    perform rowrelay.ring_doorbell();',
             '  end if;') end,
           -- the result does not matter, and a variable needs no plan
    case when is_apart then
           '  return null;' else
           '  return old;' end,
           'end');
end
$$;
