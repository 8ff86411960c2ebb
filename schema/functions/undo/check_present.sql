-- Purpose:    refuses to reconstruct the past from a table that was truncated after the caller's snapshot was taken: a
--             snapshot does not hide TRUNCATE, so the table would show a change that the log does not show yet
-- Parameters: capture
-- Errors:     serialization_failure
create or replace function rowrelay.check_present(capture rowrelay.capture) returns void
language plpgsql stable as $$
declare
  tables   constant regclass[] := rowrelay.captured_tables(capture);
  relation regclass;
begin
  execute format('select from %s limit 0', capture.relation); -- locks it and its partitions against TRUNCATE
  -- relfilenode as the snapshot sees it, and as it is now
  select c.oid into relation from pg_class c
   where c.oid = any (tables) and c.relkind = 'r' and c.relfilenode <> pg_relation_filenode(c.oid)
   limit 1;
  if relation is not null then
    raise exception 'table % was truncated or rewritten after this transaction took its snapshot', relation
      using errcode = 'serialization_failure', hint = 'Try again in a new transaction.';
  end if;
end
$$;
