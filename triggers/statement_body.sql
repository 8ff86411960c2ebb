-- Purpose:    returns the body of a function that captures a writer's statement as a whole, for the statement triggers
--             of a table. Its rows are in transition tables, rowrelay_old and rowrelay_new; each event has a trigger of
--             its own, because a trigger with transition tables takes one event.
--
--             Row triggers fire for each row, and PostgreSQL keeps an event for each until then. A statement trigger
--             fires once, so the key, images and lanes of all rows are made, and both INSERTs run, in one statement,
--             which costs a third and whose memory does not grow.
--
--             - Both versions of an updated row stand at the same place of both transition tables, because PostgreSQL
--               adds them together. A full join by this place is never a nested loop. It is needed only for the image
--               before, and where a key changed.
--             - What is captured last must be what the row is. A statement that another one began (by a function in
--               it, by a BEFORE trigger, by an AFTER trigger of a row, which fires before those of statements) has been
--               captured before. The versions of a transition table have no system columns, so the rule differs from
--               that of rowrelay.nesting_statements(), and is simpler: log a version if the table has that very row
--               now, log a delete if the table no longer has the key; what is left out was told already, or will be,
--               by who made it so. It is marked as there.
--             - A statement of one row looks always, and leaves no count: see rowrelay.statement_single().
--             - No look is needed if nobody else wrote to the table meanwhile. PostgreSQL counts what a session wrote
--               to a table since it last reported that, which it never does within a transaction. So if it counts as
--               many as this statement has, there was nothing else in this transaction. Else the last count, that a
--               statement of this transaction left in setting rowrelay.told_N, tells what there was before: a
--               statement without others in between leaves its own count; one that had to look leaves none, so that
--               the one which began it, and the second trigger of MERGE and ON CONFLICT, have to look too. Counts do
--               not become fewer when a subtransaction is rolled back; a setting returns to its former value; after
--               TRUNCATE it is reset. So a mistake leads to a look.
--             - Under session_replication_role = replica, and in the processes that apply logical replication,
--               statement triggers that are enabled as usual do not fire. The row trigger is enabled for those alone.
--             - What cannot be done at once is done row by row by rowrelay.record_row(): an altered table, an image
--               that fails. Whatever could fail where the writer's statement did not stands in a guarded block:
--               statements of many rows, large rows, values that do not survive as JSON.
-- Parameters: capture
-- Result:     declarations and statements of PL/pgSQL
create or replace function rowrelay.statement_body(capture rowrelay.capture) returns text
language plpgsql stable as $$
declare
  relation     constant regclass := capture.relation;
  key_columns  constant smallint[] := rowrelay.live_key(capture);
  lane_columns constant smallint[] := coalesce(capture.lane_columns, key_columns);
  -- statements of more rows are guarded, which costs them little
  few          constant integer := 1000;
  -- as an image does that is not of the row as a whole
  names_all    boolean;
  pins         record;
  known        text;
  told         text := 'rowrelay.told_' || capture.id;
begin
  if rowrelay.statement_obstacle(capture) is not null then
    -- maintenance will put row triggers in the place of these
    return concat_ws(E'\n',
             'declare',
             '  who      pg_catalog.text;',
             '  as_user  who%type;',
             '  problem  who%type := ''the table was altered'';',
             '  given    pg_catalog.record;',
             'begin',
      rowrelay.statement_head(capture),
      rowrelay.statement_fallback(capture.id),
             'end');
  end if;
  names_all := (rowrelay.image_expression(capture)).image <> 'pg_catalog.row_to_json(new.*)'; -- it takes a while
  select * into pins from rowrelay.pin_statements(relation, key_columns || lane_columns);
  select format('rowrelay.row_is_unaltered(%L::pg_catalog.regclass, %L::pg_catalog.oid[], %L::pg_catalog.text[], '
                '%L::pg_catalog.oid[])', relation::oid, array_agg(a.atttypid order by a.attnum),
                array_agg(a.attname order by a.attnum) filter (where n.is_named),
                array_agg(a.atttypid order by a.attnum) filter (where n.is_named))
         || ' and ' || rowrelay.name_condition(relation)
         || coalesce(' and ' || rowrelay.lane_check(capture), '')
         || coalesce(' and ' || rowrelay.timezone_condition(relation, key_columns || lane_columns), '')
    into known
    from pg_attribute a
   cross join lateral (select a.attnum = any (key_columns || lane_columns) or rowrelay.may_be_large(a.atttypid)
                              or names_all)
           as n(is_named)
   where a.attrelid = relation and a.attnum > 0 and not a.attisdropped;

  return concat_ws(E'\n',
           '#variable_conflict use_column',
           'declare',
           '  counted  pg_catalog.int8;',
           '  written  counted%type;',
           '  last_id  counted%type;',
           '  former   counted%type;',
           '  is_small pg_catalog.bool := false;',
           '  is_other is_small%type := false;',
           '  is_alone is_small%type;',
           -- of one row at least, which rowrelay.record_row() then captures with all others
           '  is_keyless is_small%type;',
           -- else nothing can be known
           '  may_look is_small%type;',
           '  is_single is_small%type;',
           '  today    pg_catalog.date;',
           '  who      pg_catalog.text;',
           '  as_user  who%type := rowrelay.login_name();',
           '  problem  who%type := ''the table was altered'';',
           '  key      who%type;', -- what rowrelay.pin_statements() declares is of its type
           '  given    pg_catalog.record;',
    pins.declarations,
           'begin',
    rowrelay.statement_head(capture),
    format('  if %s then', known),
    format('    may_look := %s;', rowrelay.look_condition(relation)),
           -- what a row trigger leaves to the function beside it is not told of as it tells of ordinary rows
    format('    if who is null or pg_catalog.concat(pg_catalog.current_setting(''rowrelay.skip'', true)%s) '
           'operator(pg_catalog.=) '''' then',
           case when not capture.capture_origin then ', pg_catalog.current_setting(''rowrelay.origin'', true)' end),
    pins.pin,
    rowrelay.statement_single(capture),
    pins.unpin,
           '      if is_single then',
           '        return null;',
           '      end if;',
           '    end if;',
    rowrelay.statement_counts(capture, few),
           '    written := pg_catalog.pg_stat_get_xact_tuples_inserted(tg_relid)',
           '      operator(pg_catalog.+) pg_catalog.pg_stat_get_xact_tuples_updated(tg_relid)',
           '      operator(pg_catalog.+) pg_catalog.pg_stat_get_xact_tuples_deleted(tg_relid);',
           '    is_alone := written operator(pg_catalog.=) counted',
    format('      or pg_catalog.current_setting(%L, true) operator(pg_catalog.=) '
           '(written operator(pg_catalog.-) counted)::pg_catalog.text;', told),
           '    if is_alone then',
    format('      problem := pg_catalog.set_config(%L, written::pg_catalog.text, true);', told),
           '    else',
           '      is_alone := not may_look;', -- nothing can be known
           '    end if;',
           '    last_id := pg_catalog.pg_sequence_last_value(''rowrelay.change_id''::pg_catalog.regclass);',
           '    today := rowrelay.partition_day();',
           '    former := rowrelay.former_lastval();',
           '    if is_keyless then',
           '      is_small := null;',
           '    elsif is_small and not is_other then',
    pins.pin,
    rowrelay.statement_few(capture),
    pins.unpin,
           '    else',
           '      begin',
    pins.pin,
    rowrelay.statement_many(capture),
    pins.unpin,
           '      exception when others then',
           '        problem := sqlerrm;',
           '        is_small := null;',
           '      end;',
           '    end if;',
           '    former := rowrelay.keep_lastval(former);',
           '    if is_small is distinct from null then',
           -- it may be one of the first ids for which somebody wants to be woken
           '      if coalesce(last_id, 0) operator(pg_catalog.<) '
           'pg_catalog.pg_sequence_last_value(''rowrelay.doorbell''::pg_catalog.regclass) then',
           '        perform rowrelay.ring_doorbell();',
           '      end if;',
           '      return null;',
           '    end if;',
           '  end if;',
    rowrelay.statement_fallback(capture.id),
           'end');
end
$$;
