-- Purpose:    whether a transaction sees a trigger of ours on a table. When one fires that it does not see, the table
--             has become an inheritance child after the transaction's snapshot was taken, in which it is none.
-- Parameters: the table
create or replace function rowrelay.sees_trigger(relation oid) returns boolean
language plpgsql stable as $$
begin
  return exists (select from pg_catalog.pg_trigger t
                  where t.tgrelid operator(pg_catalog.=) relation
                    and pg_catalog.starts_with(t.tgname::pg_catalog.text, '!rowrelay'));
end
$$;
