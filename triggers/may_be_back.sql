-- Purpose:    whether a key that a table's trigger is told was deleted may exist again: this transaction has inserted
--             into the table or updated a key there, or PostgreSQL does not count that
-- Parameters: the table with the row
create or replace function rowrelay.may_be_back(relation oid) returns boolean
language plpgsql as $$
begin
  return pg_catalog.pg_stat_get_xact_tuples_inserted(relation) operator(pg_catalog.>) 0
      or pg_catalog.pg_stat_get_xact_tuples_updated(relation) operator(pg_catalog.>) 0
      or pg_catalog.current_setting('track_counts') operator(pg_catalog.<>) 'on';
end
$$;
