-- Purpose:    returns the statements of rowrelay.statement_body() that capture rows one by one
-- Parameters: capture id
create or replace function rowrelay.statement_fallback(capture_id integer) returns text
language sql stable as $$
  select concat_ws(E'\n',
           '  for attempt in 1 .. 3 loop',
           '    begin',
    format('      for given in execute rowrelay.statement_rows(%s, tg_op, tg_relid, attempt) loop', capture_id),
           '        if given.is_large then',
    format('          perform rowrelay.record_key(%s, tg_op, given.old_key, given.new_key, given.key_row, problem);',
           capture_id),
           '        else',
    format('          perform rowrelay.record_row(%s, tg_op, case when tg_op operator(pg_catalog.<>) ''INSERT'' then '
           'given.old_row end, case when tg_op operator(pg_catalog.<>) ''DELETE'' then given.new_row end, problem, '
           'tg_relid, given.at);', capture_id),
           '        end if;',
           '      end loop;',
           '      return null;',
           '    exception when others then',
           '      if attempt operator(pg_catalog.=) 3 then',
           '        raise;',
           '      end if;',
           '      problem := sqlerrm;',
           '    end;',
           '  end loop;',
           '  return null;')
$$;
