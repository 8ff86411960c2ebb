-- Purpose:    refuses to go back from a table that was truncated after the caller's snapshot was taken: TRUNCATE is the one
--             change that a snapshot does not hide, so the table would show what the log does not know yet
-- Parameters: capture
-- Errors:     serialization_failure
create or replace function rowrelay.check_present(capture rowrelay.capture) returns void
language plpgsql stable as $$
declare
  tables   constant regclass[] := rowrelay.captured_tables(capture);
  relation regclass;
begin
  execute format('select from %s limit 0', capture.relation); -- locks it and all partitions: nobody truncates from here on
  -- one is as the snapshot sees it, the other as it is
  select c.oid into relation from pg_class c
   where c.oid = any (tables) and c.relkind = 'r' and c.relfilenode <> pg_relation_filenode(c.oid)
   limit 1;
  if relation is not null then
    raise exception 'table % was truncated, or rewritten, since this transaction sees the database', relation
      using errcode = 'serialization_failure', hint = 'Try again, in a new transaction.';
  end if;
end
$$;
