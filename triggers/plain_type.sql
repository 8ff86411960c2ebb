-- Purpose:    returns the name of a type, with the column's collation, for SQL that must mean the same in every
--             session. Base types replace domains, because some functions and operators (those of enums) refuse a
--             domain, and its CHECK must not run again on a value that was once a key.
-- Parameters: type; collation of the column, 0 for none
-- Result:     such as pg_catalog.int4, or pg_catalog.text collate public.german; for use after "::" and in column lists
create or replace function rowrelay.plain_type(of_type oid, of_collation oid) returns text
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  return (
    select format('%I.%I', n.nspname, t.typname)
             || coalesce((select format(' collate %I.%I', cn.nspname, c.collname)
                            from pg_collation c join pg_namespace cn on cn.oid = c.collnamespace
                           where c.oid = of_collation and c.collname <> 'default'), '')
      from pg_type t join pg_namespace n on n.oid = t.typnamespace
     where t.oid = rowrelay.plain_oid(of_type));
end
$$;
