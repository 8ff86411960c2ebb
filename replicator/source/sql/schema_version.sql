-- The newest migration that has been applied; 0 while an installation has not got that far. -1: tables are there, and not
-- what was in them, because somebody restored the schema only.
select coalesce(max(version), case when to_regclass('rowrelay.source') is null then 0 else -1 end) from rowrelay.migration;
