-- Whether schema rowrelay is in this database, and whether the server is in recovery, which may still bring it.
select pg_catalog.to_regclass('rowrelay.migration') is not null, pg_catalog.pg_is_in_recovery();
