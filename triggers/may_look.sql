-- Purpose:    whether a trigger function may look into its table by its name and sees all rows there
--             (rowrelay.sees_rows), see also rowrelay.name_condition()
-- Parameters: the table with the row: the captured one, or a partition; the captured table; its name
create or replace function rowrelay.may_look(of_row oid, relation oid, name text) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp set jit = off as $$
begin
  return rowrelay.sees_rows(of_row) and (of_row = relation or rowrelay.sees_rows(relation))
     and parse_ident((pg_identify_object('pg_class'::regclass, relation, 0)).identity) = parse_ident(name);
end
$$;
