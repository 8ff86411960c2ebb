-- Purpose:    the name of a type for SQL that must mean the same in every session, with the collation that values of a
--             column have. It is one without domains: some functions and operators refuse a domain
--             (those of all enums), and what its CHECK says is nothing to ask again of a value that was a key once.
-- Parameters: type; collation of the column, 0 for none
-- Result:     such as pg_catalog.int4, or pg_catalog.text collate public.german; behind "::" and in a list of columns
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
