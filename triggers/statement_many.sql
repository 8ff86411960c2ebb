-- Purpose:    returns the statements of rowrelay.statement_body() for many rows or large ones: they are guarded, and
--             planned each time, because that takes little compared to the rows
-- Parameters: capture
create or replace function rowrelay.statement_many(capture rowrelay.capture) returns text
language plpgsql stable as $$
declare
  keeps_before constant boolean := rowrelay.keeps_before(capture);
  places       constant text[] := '{$1,$2,$3}';
begin
  return concat_ws(E'\n',
           '        execute case when tg_op operator(pg_catalog.=) ''INSERT'' then case when is_alone then',
    format('%L', rowrelay.statement_changes(capture, 'INSERT', false, false, places)),
           '          else',
    format('%L', rowrelay.statement_changes(capture, 'INSERT', true, false, places)),
           '          end when tg_op operator(pg_catalog.=) ''DELETE'' then case when is_alone then',
    format('%L', rowrelay.statement_changes(capture, 'DELETE', false, false, places)),
           '          else',
    format('%L', rowrelay.statement_changes(capture, 'DELETE', true, false, places)),
    case when not keeps_before then concat_ws(E'\n',
           '          end when not is_other then case when is_alone then',
    format('%L', rowrelay.statement_changes(capture, 'UPDATE', false, false, places)),
           '          else',
    format('%L', rowrelay.statement_changes(capture, 'UPDATE', true, false, places))) end,
           '          end else case when is_alone then',
    format('%L', rowrelay.statement_changes(capture, 'UPDATE', false, true, places)),
           '          else',
    format('%L', rowrelay.statement_changes(capture, 'UPDATE', true, true, places)),
           '          end end using today, who, as_user;');
end
$$;
