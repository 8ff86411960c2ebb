\echo Use "create extension rowrelay_native" to load this file. \quit

create function rowrelay_call_handler() returns language_handler
language c as 'MODULE_PATHNAME', 'rowrelay_call_handler';

create function rowrelay_validator(oid) returns void
language c as 'MODULE_PATHNAME', 'rowrelay_validator';

create trusted language rowrelay handler rowrelay_call_handler validator rowrelay_validator;
-- who may use it then, and let others use it
alter language rowrelay owner to @extowner@;
comment on language rowrelay is 'trigger functions of tables that rowrelay captures: PL/pgSQL, and ordinary rows in C';
revoke all on language rowrelay from public;
