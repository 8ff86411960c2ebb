-- Purpose:    returns the statements of rowrelay.statement_body() that capture rows one by one. If that cannot be done
--             either, the statement is recorded as a whole, without a key, as a problem.
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
           '      problem := sqlerrm;',
           '      if attempt operator(pg_catalog.=) 3 then',
    format('        perform rowrelay.add_change(%s, pg_catalog.lower(tg_op collate pg_catalog."C")::pg_catalog."char", '
           'null, null, null, null, problem);', capture_id),
           '        return null;',
           '      end if;',
           '    end;',
           '  end loop;',
           '  return null;')
$$;
