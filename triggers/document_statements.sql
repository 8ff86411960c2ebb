-- Purpose:    returns the statements of a trigger function that queue a change for the documents that it affects. A
--             document's keys choose its lanes, so a row that moves from one document to another is queued in the lanes
--             of both. Columns are compared as text, because IS DISTINCT FROM would look up "=" in the application's
--             search_path.
-- Parameters: capture; expression for the bytes of the change's images; whether the image before is kept anyway;
--             expression for what is kept of a row that moved; is_apart: as for rowrelay.trigger_body()
-- Result:     declarations; guarded: statements that compute the keys and may fail; queueing: statements after the
--             change is logged; all null when no document is built from this table
create or replace function rowrelay.document_statements(capture rowrelay.capture, size text, keeps_before boolean,
                                                        key_row text, is_apart boolean, out declarations text,
                                                        out guarded text, out queueing text)
language plpgsql stable as $$
declare
  source  record;
  changed text;
  moves   text;
begin
  for source in
    select s.*, row_number() over (order by s.document, s.position) as n, t.lanes / 2 as lanes,
           rowrelay.lane_number(s.document, 0) as first_lane,
           coalesce(capture.key_columns = array[s.key_column]
                    and rowrelay.is_key_type(rowrelay.base_type(a.atttypid), d.key_type), false) as is_key,
           rowrelay.document_key_expression(capture.relation, s.key_column, 'new', d.key_type) as new_key,
           rowrelay.document_key_expression(capture.relation, s.key_column, 'old', d.key_type) as old_key
      from rowrelay.document_source s
      join rowrelay.document d on d.target = s.document
      left join pg_attribute a on a.attrelid = capture.relation and a.attnum = s.key_column
      join rowrelay.target t on t.id = s.document
     where s.capture = capture.id and t.dropped_at is null
     order by s.document, s.position
  loop
    -- column dropped; view rowrelay.documents notes it
    continue when source.keys_query is null and source.new_key is null;
    select string_agg(format('pg_catalog.concat(new.%1$I is distinct from null, new.%1$I) operator(pg_catalog.<>) '
                             'pg_catalog.concat(old.%1$I is distinct from null, old.%1$I)', name), E'\n        or ')
      into changed
      from unnest(rowrelay.attribute_names(capture.relation, source.only_columns)) as name
     where name is not null;
    if source.only_columns is not null then
      declarations := concat_ws(E'\n', declarations, format('  touches_%s pg_catalog.bool := true;', source.n));
      guarded := concat_ws(E'\n', guarded,
                 '    if op operator(pg_catalog.=) ''u'' then',
        -- With another key it is another row, which may belong to other documents. What gave the row its values in this
        -- transaction may be left out, because this update was captured first.
        format(E'      touches_%s := %s%s\n        or %s;', source.n,
               case when cardinality(capture.key_columns) > 0 then E'rekeyed\n        or ' end,
               coalesce(changed, 'false'), rowrelay.own_version(is_apart)),
                 '    end if;');
    end if;
    -- The table's own key does not change here: such an update is a delete and an insert.
    if source.keys_query is not null or source.is_key then
      queueing := concat_ws(E'\n', queueing,
        case when source.only_columns is not null then
          format('  if touches_%s then', source.n) end,
                 '    insert into rowrelay.queue (change_id, lane, day, bytes)',
        format('    values (id, pg_catalog.int4pl(%s, pg_catalog.mod(pg_catalog.int4and(%s, 2147483647), %s)), '
               'day, %s)',
               source.first_lane, case when source.is_key then 'pg_catalog.hashtext(key)' else 'hash' end,
                 source.lanes, size),
                 '    on conflict do nothing;',
        case when source.only_columns is not null then
                 '  end if;' end);
      continue;
    end if;
    declarations := concat_ws(E'\n', declarations,
      format('  document_%s pg_catalog.text;', source.n),
      format('  former_%s pg_catalog.text;', source.n));
    moves := format(
        'op operator(pg_catalog.=) ''u'' and pg_catalog.concat(former_%1$s is null, former_%1$s) '
        'operator(pg_catalog.<>) '
                    'pg_catalog.concat(document_%1$s is null, document_%1$s)', source.n);
    guarded := concat_ws(E'\n', guarded,
               '    if op operator(pg_catalog.<>) ''d'' then',
      format('      document_%s := %s;', source.n, source.new_key),
               '    end if;',
               '    if op operator(pg_catalog.<>) ''i'' then',
      format('      former_%s := %s;', source.n, source.old_key),
               '    end if;',
      case when not keeps_before or source.only_columns is not null then concat_ws(E'\n',
        format('    if %s then', moves),
        case when not keeps_before then
          format('      old_row := %s;', key_row) end,
        case when source.only_columns is not null then
          format('      touches_%s := true;', source.n) end,
               '    end if;') end);
    queueing := concat_ws(E'\n', queueing,
      format('  if op operator(pg_catalog.<>) ''d'' and document_%s is not null%s then', source.n,
             case when source.only_columns is not null then ' and touches_' || source.n end),
               '    insert into rowrelay.queue (change_id, lane, day, bytes)',
      format('    values (id, pg_catalog.int4pl(%s, '
             'pg_catalog.mod(pg_catalog.int4and(pg_catalog.hashtext(document_%s), 2147483647), %s)), day, %s)',
             source.first_lane, source.n, source.lanes, size),
               '    on conflict do nothing;',
               '  end if;',
      format('  if former_%s is not null and (op operator(pg_catalog.=) ''d'' or %s) then', source.n, moves),
               '    insert into rowrelay.queue (change_id, lane, day, bytes)',
      format('    values (id, pg_catalog.int4pl(%s, pg_catalog.mod(pg_catalog.int4and(pg_catalog.hashtext(former_%s), '
             '2147483647), %s)), day, %s)',
             source.first_lane, source.n, source.lanes, size),
               '    on conflict do nothing;',
               '  end if;');
  end loop;
end
$$;
