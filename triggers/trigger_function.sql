-- Purpose:    returns the text of the function that a captured table's row triggers run, and of the one beside it, if
--             it has one; and of the one that its statement triggers run, if it was wished for. In
--             language rowrelay the text begins with a plan for the server module, which passes what it
--             cannot do on to the text: see rowrelay.native_plan(). The function for any row is one beside it, if
--             there are ordinary rows: see rowrelay.ordinary_body().
-- Parameters: capture
-- Result:     CREATE OR REPLACE FUNCTION statements
create or replace function rowrelay.trigger_function(capture rowrelay.capture) returns text
language plpgsql stable as $$
declare
  plan  constant text := case when rowrelay.has_native() then rowrelay.native_plan(capture) end;
  body  text;
  known text;
begin
  select o.body, o.known into body, known from rowrelay.ordinary_body(capture) as o;
  return concat_ws(E';\n',
    case when body is not null or to_regproc(format('rowrelay.%I', rowrelay.rest_name(capture.id))) is not null then
      rowrelay.rest_function(capture, body is not null) end,
    case when known is not null
              -- a session may still run a trigger function that asks it
              or to_regproc(format('rowrelay.%I', rowrelay.known_name(capture.id))) is not null then
      concat_ws(E';\n',
        format(E'create or replace function rowrelay.%I(tg_relid pg_catalog.oid) returns pg_catalog.bool\n%s',
               rowrelay.known_name(capture.id),
               rowrelay.function_body('plpgsql', format(E'begin\n  return %s;\nend', coalesce(known, 'false')))),
        format('revoke all on function rowrelay.%I from public', rowrelay.known_name(capture.id))) end,
    format(E'create or replace function rowrelay.%I() returns trigger security definer%s\n%s',
           'capture_' || capture.id, case when body is null and plan is null then ' set jit = off' end,
           rowrelay.function_body(case when plan is null then 'plpgsql' else 'rowrelay' end, concat_ws(E'\n', plan,
             rowrelay.routes_line(capture.id),
             format('-- captures %s; made by rowrelay.trigger_function()',
                    regexp_replace(capture.relation::text, E'\\s', ' ', 'g')),
             coalesce(body, rowrelay.trigger_body(capture, false))))),
    case when capture.per = 'statement' then rowrelay.statement_function(capture) end);
end
$$;
