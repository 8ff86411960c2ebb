-- Purpose:    withdraws what rowrelay.index_history() ordered. Running processes (rowrelay.index_closed_days) drop the
--             indexes when they can lock their partitions for a moment.
-- Parameters: expression or name of a column, as it was given or as rowrelay.history_indexes shows it
-- Result:     number of expressions removed
-- Errors:     the log is not indexed by it
create or replace function rowrelay.unindex_history(expression text) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  n integer;
begin
  delete from rowrelay.history_index x
   where replace(replace(x.expression, ' ', ''), '::text', '')
         = any (array[replace(replace(unindex_history.expression, ' ', ''), '::text', ''),
                      replace(format('new_row->>%L', unindex_history.expression), ' ', ''),
                      replace(format('old_row->>%L', unindex_history.expression), ' ', '')]);
  get diagnostics n = row_count;
  if n = 0 then
    raise exception 'the log is not indexed by "%"', expression
      using errcode = 'undefined_object',
            hint = 'To list the expressions: select expression from rowrelay.history_indexes;';
  end if;
  return n;
end
$$;
