-- Purpose:    returns the text of the function beside a trigger function that is made for ordinary rows
--             (rowrelay.ordinary_body): it captures any row. Nobody may execute it but its owner, as whom the trigger
--             function runs.
-- Parameters: capture; whether its trigger function passes rows on. If not, a session may still run an older one that
--             does: then all its rows go the slow way.
-- Result:     statements; they make a function whose parameters have the names of what a trigger knows. Both rows are
--             never null, because a record must have a type: an insert has its new row twice, a delete its old one.
create or replace function rowrelay.rest_function(capture rowrelay.capture, is_used boolean) returns text
language plpgsql stable as $$
begin
  return concat_ws(E'\n',
    format('create or replace function rowrelay.%I(', rowrelay.rest_name(capture.id)),
           '  tg_op pg_catalog.text, tg_relid pg_catalog.oid, old pg_catalog.record, new pg_catalog.record,',
           '  new_xmax pg_catalog.xid, new_xmin pg_catalog.xid, new_cmin pg_catalog.cid, new_ctid pg_catalog.tid,',
           '  old_xmax pg_catalog.xid, old_xmin pg_catalog.xid, old_cmax pg_catalog.cid) returns pg_catalog.record',
           -- where the session avoids nested loops, all else has such costs that PostgreSQL would compile it
           'set jit = off',
    rowrelay.function_body('plpgsql',
      case when is_used then rowrelay.trigger_body(capture, true)
           else concat_ws(E'\n',
           'begin',
    format('  perform rowrelay.record_row(%s, tg_op, case when tg_op operator(pg_catalog.<>) ''INSERT'' then old end, '
           'case when tg_op operator(pg_catalog.<>) ''DELETE'' then new end,', capture.id),
           '    ''the table was captured anew'', tg_relid,',
           '    case when new_xmax operator(pg_catalog.<>) 0 then new_ctid end);',
           '  return null;',
           'end') end) || ';',
    format('revoke all on function rowrelay.%I from public', rowrelay.rest_name(capture.id)));
end
$$;
