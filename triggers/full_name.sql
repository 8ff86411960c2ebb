-- Purpose:    returns a table's name with its schema, quoted where necessary, under any search_path
-- Parameters: relation
-- Result:     such as shop.orders or "Old Shop"."Order"; null when it is gone
create or replace function rowrelay.full_name(relation regclass) returns text
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  return (select format('%I.%I', n.nspname, c.relname)
            from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = relation);
end
$$;
