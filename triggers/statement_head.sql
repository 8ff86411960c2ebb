-- Purpose:    returns the first statements of rowrelay.statement_body(): a table that is not captured, what the
--             transaction leaves out, and who makes the changes
-- Parameters: capture
create or replace function rowrelay.statement_head(capture rowrelay.capture) returns text
language sql stable as $$
  select concat_ws(E'\n',
    '  if ' || rowrelay.foreign_table(capture) || E' then\n    return null;\n  end if;',
    format('  if pg_catalog.concat(pg_catalog.current_setting(''rowrelay.skip'', true), '
           'pg_catalog.current_setting(''rowrelay.origin'', true),'),
           '       pg_catalog.current_setting(''rowrelay.actor'', true), '
           'pg_catalog.current_setting(''rowrelay.traceparent'', true), pg_catalog.current_setting(''role'')) '
           'operator(pg_catalog.<>) ''none''',
           '  then',
    format('    if rowrelay.is_left_out(%L) then', capture.capture_origin),
           '      return null;',
           '    end if;',
           '    who := rowrelay.actor();',
           '    as_user := rowrelay.db_user();',
           '  end if;')
$$;
