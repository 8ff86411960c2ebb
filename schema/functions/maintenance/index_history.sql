-- Purpose:    orders an index of the log on an expression that people search by, such as new_row->>'email'. Running
--             processes create it on closed days, one after the other (rowrelay.index_closed_days). Days still written
--             to have none, so that writers do not pay for it; a search scans them. A second call retries the days
--             where it failed.
-- Parameters: expression on the columns of rowrelay.change; or the name of a column of captured tables, for that column
--             in rows before and after; method: btree, or another that suits the expression, such as hash for long
--             texts
-- Result:     the indexed expressions, as conditions have to spell them to use the index
-- Errors:     the expression cannot be indexed
create or replace function rowrelay.index_history(expression text, method text default 'btree') returns setof text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  wanted text;
  shown  text;
begin
  foreach wanted in array case
    when expression ~ '^[[:alpha:]_][[:alnum:]_$ ]*$'
         and not exists (select from pg_attribute a where a.attrelid = 'rowrelay.change'::regclass
                         and a.attname = expression and a.attnum > 0)
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
