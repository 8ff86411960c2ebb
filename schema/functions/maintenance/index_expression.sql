-- Purpose:    tries to create an index on an expression, on an empty table
-- Parameters: as for rowrelay.index_history()
-- Result:     the expression as PostgreSQL writes it
-- Errors:     the expression cannot be indexed; detail is PostgreSQL's message
create or replace function rowrelay.index_expression(expression text, method text) returns text
language plpgsql as $$
declare
  trial text := 'trial_' || pg_backend_pid();
  shown text;
begin
  execute format('create table rowrelay.%I (like rowrelay.change)', trial);
  execute format('create index %I on rowrelay.%I using %I ((%s))', trial || '_index', trial, method, expression);
  shown := pg_get_indexdef(format('rowrelay.%I', trial || '_index')::regclass, 1, true);
  execute format('drop table rowrelay.%I', trial);
  return regexp_replace(shown, E'^\\((.*)\\)$', E'\\1');
exception when syntax_error_or_access_rule_violation or object_not_in_prerequisite_state or undefined_object
            or invalid_object_definition or feature_not_supported or program_limit_exceeded or wrong_object_type then
  raise exception 'the log cannot be indexed by "%" (%)', expression, method
    using errcode = 'invalid_parameter_value', detail = sqlerrm,
          hint = 'Give an expression on columns of rowrelay.change, such as new_row->>''email'', or a column of a '
                 'captured table.';
end
$$;
