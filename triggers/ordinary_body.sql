-- Purpose:    returns the body of a trigger function that captures ordinary rows of a table, and passes all others on
--             to the function beside it (rowrelay.rest_function), which captures any row. A session keeps a compiled
--             copy of each function and its plans, for each table that it writes to; so this one is short, and rows for
--             which it is not enough are rare: a key was changed, another write to the row may have been captured
--             before (rowrelay.nesting_statements), the row is large, the table was altered, the transaction leaves its
--             rows out.
--
--             Nothing in it can fail where the application's statement did not, so nothing is guarded: all columns have
--             built-in types, and an image of a small row fits. Only passing on a large row is: see
--             rowrelay.record_key(). See rowrelay.trigger_body() for what is done with a row.
-- Parameters: capture
-- Result:     declarations and statements of PL/pgSQL; null for a table without ordinary rows
create or replace function rowrelay.ordinary_body(capture rowrelay.capture) returns text
language plpgsql stable as $$
declare
  relation     constant regclass := capture.relation;
  key_columns  constant smallint[] := rowrelay.live_key(capture);
  lane_columns constant smallint[] := coalesce(capture.lane_columns, key_columns);
  is_firm      constant boolean := rowrelay.key_is_unique(capture);
  keeps_before constant boolean := rowrelay.keeps_before(capture);
  old_image    constant text := case when keeps_before then 'pg_catalog.row_to_json(old.*)' end;
  name         constant text := rowrelay.full_name(relation);
  new_is_small constant text := rowrelay.small_row(relation, 'new'); -- null: always
  old_is_small constant text := rowrelay.small_row(relation, 'old');
  has_timezone boolean;
  known        text;
  is_ordinary  text;
  new_is_awkward text; -- conditions on the rows, null for a table without such columns
  old_is_awkward text;
  lanes        text;
  logged       text;
begin
  if rowrelay.has_ordinary_rows(capture) is not true then
    return null;
  end if;

  -- What this transaction leaves out must cost it nothing, so that is asked first.
  with pinned as materialized (
    select p.* from rowrelay.pinned_settings(relation, key_columns || lane_columns) as p
  )
  select concat_ws(E'\n     and ',
           format('pg_catalog.concat(pg_catalog.current_setting(''rowrelay.skip'', true)%s)'
                  ' operator(pg_catalog.=) ''''',
                  case when not capture.capture_origin then
                    ', pg_catalog.current_setting(''rowrelay.origin'', true)' end),
           format('rowrelay.row_is_unaltered(%L::pg_catalog.regclass, %L::pg_catalog.oid[], %L::pg_catalog.text[], '
                  '%L::pg_catalog.oid[])', relation::oid, array_agg(a.atttypid order by a.attnum),
                  array_agg(a.attname order by a.attnum) filter (where n.is_named),
                  array_agg(a.atttypid order by a.attnum) filter (where n.is_named)),
           (select string_agg(format('pg_catalog.current_setting(%L) operator(pg_catalog.=) any '
                                     '(%L::pg_catalog.text[])', p.name, p.good), E'\n     and ' order by p.name)
              from pinned p where p.name <> 'timezone'),
           'not (' || rowrelay.foreign_table(capture) || ')'),
         exists (select from pinned p where p.name = 'timezone')
    into known, has_timezone
    from pg_attribute a
   cross join lateral (select a.attnum = any (key_columns || lane_columns)
                              or rowrelay.may_be_large(a.atttypid) -- rowrelay.small_row() names it
                              or a.attname in (select w.name from rowrelay.awkward_columns(relation) as w))
           as n(is_named)
   where a.attrelid = relation and a.attnum > 0 and not a.attisdropped;
  select string_agg(format(w.condition, format('new.%I', w.name)), ' or '),
         string_agg(format(w.condition, format('old.%I', w.name)), ' or ')
    into new_is_awkward, old_is_awkward
    from rowrelay.awkward_columns(relation) as w;
  select concat_ws(E'\n        and ', format('(%s) is not true', rowrelay.rekeyed_expression(capture)),
                   '(new.xmax operator(pg_catalog.=) 0 or is_last)',
                   new_is_small, case when keeps_before then old_is_small end,
                   '(' || new_is_awkward || ') is not true',
                   case when keeps_before then '(' || old_is_awkward || ') is not true' end)
    into is_ordinary;
  select coalesce(string_agg(format('%s,%s', rowrelay.lane_number(t.id, 0) + room, t.lanes), ',' order by t.id), '')
    into lanes
    from rowrelay.route r join rowrelay.target t on t.id = r.target
    cross join lateral rowrelay.waiting_room(r.capture, r.target) as room
   where r.capture = capture.id and r.until_id is null and t.dropped_at is null;
  logged := format('rowrelay.log_row(%s, tg_op, %%s, %%s, %%s, %%s, %L, %L, %s)', capture.id,
                   keeps_before, '{' || lanes || '}',
                   case when has_timezone then 'former_timezone' else 'null' end);

  return concat_ws(E'\n',
           'declare',
           -- each type that is named costs a session two kilobytes
           '  is_last found%type;',
    case when has_timezone then
           '  former_timezone tg_op%type;' end,
           'begin',
    format('  while %s', known),
           '  loop',
    case when has_timezone then concat_ws(E'\n',
           '    former_timezone := case when pg_catalog.current_setting(''timezone'')'
           ' operator(pg_catalog.<>) all (''{UTC,Etc/UTC}''::pg_catalog.text[]) then rowrelay.change_timezone() end;')
    end,
           '    if (case when tg_op operator(pg_catalog.<>) ''DELETE'' then',
    format(E'      case when %s then\n        %s%s end', is_ordinary,
           format(logged, rowrelay.key_expression(relation, key_columns, 'new'),
                  rowrelay.hash_expression(capture.id, relation, lane_columns, 'new'),
                  case when keeps_before then
                    format('case when tg_op operator(pg_catalog.=) ''UPDATE'' then %s end', old_image)
                  else 'null' end,
                  'pg_catalog.row_to_json(new.*)'),
           case when has_timezone then E'\n        else rowrelay.restore_timezone(former_timezone)' end),
    case when is_firm then
    format(E'    when (is_last or not rowrelay.may_be_back(tg_relid))%s then\n        %s',
           case when keeps_before then
             concat_ws(' and ', '', old_is_small,
                       '(' || old_is_awkward || ') is not true')
           end,
           format(logged, rowrelay.key_expression(relation, key_columns, 'old'),
                  rowrelay.hash_expression(capture.id, relation, lane_columns, 'old'),
                  coalesce(old_image, rowrelay.key_row(capture)), 'null')) end,
    case when has_timezone then
           '    else rowrelay.restore_timezone(former_timezone)' end,
           '    end) then',
           -- the result does not matter, and a variable needs no plan
           '      return old;',
           '    end if;',
           '    exit when is_last is not null;',
           '    is_last := false;',
           '    begin',
    format('      if rowrelay.may_look(tg_relid, %s, %L) then', relation::oid, name),
           '        if tg_op operator(pg_catalog.=) ''DELETE'' then',
    format('          is_last := not exists (select from %s as t where %s and %s);', name,
           rowrelay.same_key(capture, 't', 'old'), rowrelay.same_row_type('t.*', 'old.*')),
           '        else',
    case when (select c.relkind = 'p' from pg_class c where c.oid = relation) then
           '          is_last := not rowrelay.is_superseded(tg_relid, new.ctid, new);' else
    format('          is_last := exists (select from only %s as t'
           ' where t.ctid operator(pg_catalog.=) new.ctid and %s);', name, rowrelay.same_row_type('t.*', 'new.*')) end,
           '        end if;',
           '      end if;',
           '    exception when others then', -- then nothing is known
           '    end;',
           '  end loop;',
    case when new_is_small is not null then
           '  begin' end, -- as one value the row may be too large to be passed on
    format('  return rowrelay.%I(tg_op, tg_relid, coalesce(old, new), coalesce(new, old),',
           rowrelay.rest_name(capture.id)),
           '    new.xmax, new.xmin, new.cmin, new.ctid, old.xmax, old.xmin, old.cmax);',
    case when new_is_small is not null then concat_ws(E'\n',
           '  exception when program_limit_exceeded or out_of_memory or internal_error then',
    format('    return rowrelay.record_key(%s, tg_op, %s, %s, %s, sqlerrm);', capture.id,
           rowrelay.key_expression(relation, key_columns, 'old'),
           rowrelay.key_expression(relation, key_columns, 'new'), rowrelay.key_row(capture)),
           '  end;') end,
           'end');
end
$$;
