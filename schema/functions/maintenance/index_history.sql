-- Purpose:    wants an index of the log for an expression that people search by, such as new_row->>'email'. Closed days get
--             it from running processes, one after the other (rowrelay.index_closed_days); days that are still written
--             never do, so writers do not pay for it, and a search reads those. Again: tries days anew where it failed.
-- Parameters: expression on the columns of rowrelay.change; or the name of a column of captured tables, which means it in
--             rows before and after; method: btree, or any other that does with the expression, such as hash for long texts
-- Result:     the expressions as they are indexed: conditions have to be written so
-- Errors:     not an expression that can be indexed
create or replace function rowrelay.index_history(expression text, method text default 'btree') returns setof text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  wanted text;
  shown  text;
begin
  foreach wanted in array case
    when expression ~ '^[[:alpha:]_][[:alnum:]_$ ]*$'
         and not exists (select from pg_attribute a where a.attrelid = 'rowrelay.change'::regclass and a.attname = expression and a.attnum > 0)
    then array[format('new_row ->> %L', expression), format('old_row ->> %L', expression)]
    else array[expression] end
  loop
    shown := rowrelay.index_expression(wanted, method);
    insert into rowrelay.history_index as x (expression, method) values (shown, index_history.method)
    on conflict on constraint wanted_once do update set failed = '{}', problem = null;
    return next shown;
  end loop;
end
$$;
