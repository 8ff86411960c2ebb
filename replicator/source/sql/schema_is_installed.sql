-- Whether schema rowrelay is in this database.
select pg_catalog.to_regclass('rowrelay.migration') is not null;
