-- The snapshot of this transaction.
select pg_current_snapshot();
