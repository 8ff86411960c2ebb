-- What this transaction sees, and goes on seeing.
select pg_current_snapshot();
