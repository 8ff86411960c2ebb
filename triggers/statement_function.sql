-- Purpose:    returns the text of the function that a capture's statement triggers run. The planner's settings are
--             fixed: a plan is kept for statements of any number of rows on a table of any size, so it must not read
--             the whole table, nor be compiled.
-- Parameters: capture
-- Result:     statements
create or replace function rowrelay.statement_function(capture rowrelay.capture) returns text
language plpgsql stable as $$
begin
  return concat_ws(E'\n',
    format('create or replace function rowrelay.%I() returns trigger security definer',
           rowrelay.statement_name(capture.id)),
           'set enable_seqscan = off set jit = off',
    rowrelay.function_body('plpgsql', rowrelay.statement_body(capture)) || ';',
    format('revoke all on function rowrelay.%I() from public', rowrelay.statement_name(capture.id)));
end
$$;
