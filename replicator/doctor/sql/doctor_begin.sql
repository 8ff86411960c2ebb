-- Begins to measure. Whatever should be in the way is not waited for, and nothing here outlives the transaction. Tables
-- in schema rowrelay are not captured, so there is a schema for them.
begin;
set local lock_timeout = '200ms';
set local statement_timeout = '30s';
set local client_min_messages = error;
create schema rowrelay_doctor;
