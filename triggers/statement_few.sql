-- Purpose:    returns the statements of rowrelay.statement_body() for few small rows: nothing can fail, and plans are
--             kept
-- Parameters: capture
create or replace function rowrelay.statement_few(capture rowrelay.capture) returns text
language plpgsql stable as $$
declare
  keeps_before constant boolean := rowrelay.keeps_before(capture);
  given        constant text[] := '{today,who,as_user}';
begin
  return concat_ws(E'\n',
           '      if tg_op operator(pg_catalog.=) ''INSERT'' then',
           '        if is_alone then',
           '          ' || rowrelay.statement_changes(capture, 'INSERT', false, false, given) || ';',
           '        else',
           '          ' || rowrelay.statement_changes(capture, 'INSERT', true, false, given) || ';',
           '        end if;',
           '      elsif tg_op operator(pg_catalog.=) ''UPDATE'' then',
           '        if is_alone then',
           '          ' || rowrelay.statement_changes(capture, 'UPDATE', false, keeps_before, given) || ';',
           '        else',
           '          ' || rowrelay.statement_changes(capture, 'UPDATE', true, keeps_before, given) || ';',
           '        end if;',
           '      elsif is_alone then',
           '        ' || rowrelay.statement_changes(capture, 'DELETE', false, false, given) || ';',
           '      else',
           '        ' || rowrelay.statement_changes(capture, 'DELETE', true, false, given) || ';',
           '      end if;');
end
$$;
