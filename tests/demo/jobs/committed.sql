-- Runs :statement as a transaction and says when it was committed.
begin;
:statement;
select pg_current_xact_id()::text as transaction \gset
commit;
select extract(epoch from pg_xact_commit_timestamp(:'transaction'::xid));
