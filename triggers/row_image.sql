-- Purpose:    returns SQL for the image of a whole row: as row_to_json() makes it, but without user-defined casts
--             (rowrelay.safe_json). Rows are written as name.*, which cannot be a column's name.
-- Parameters: type of the row; its name in the statement, such as new, or $1; columns to show, null: all
-- Result:     an expression of type json; null for null
create or replace function rowrelay.row_image(row_type oid, row_name text, shown text[] default null) returns text
language plpgsql stable as $$
declare
  whole constant text := row_name || case when row_name !~ E'^\\$' then '.*' else '' end;
begin
  return (
    select case when shown is null and coalesce(bool_and(rowrelay.is_safe_type(c.type)), true)
                then format('pg_catalog.row_to_json(%s)', whole)
                else format('case when %s is distinct from null then '
                            '(select pg_catalog.row_to_json(rowrelay_row.*) from (select %s) as rowrelay_row) end',
                              whole,
                            string_agg(format('%s as %I',
                                              rowrelay.safe_json(format('%s.%I', row_name, c.name), c.type), c.name),
                                       ', ' order by c.place) filter (where shown is null or c.name = any (shown))) end
      from rowrelay.current_columns(row_type) as c);
end
$$;
