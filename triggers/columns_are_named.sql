-- Purpose:    whether columns have the names that a trigger function knows them by: one that is left out or masked
--             would be captured under another name. A caller evaluates it as rowrelay.row_is_known(): when it plans
--             an expression, and again after the table named in it was altered. The names are those of the catalog
--             cache, which are right even if the transaction cannot see the alteration yet.
-- Parameters: a table; numbers of columns and their names
create or replace function rowrelay.columns_are_named(relation regclass, numbers smallint[], names text[])
  returns boolean
language plpgsql immutable set search_path = pg_catalog, pg_temp set jit = off as $$
begin
  return (select bool_and((pg_identify_object_as_address('pg_class'::regclass, relation, c.number)).object_names[3]
                            = c.name)
            from unnest(numbers, names) as c(number, name)) is true;
exception when others then
  return false;
end
$$;
