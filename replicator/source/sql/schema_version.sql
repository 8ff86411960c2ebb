-- The newest migration that was applied; 0 while an installation is not that far; -1 when the tables are there without
-- their contents, because only the schema was restored.
select coalesce(max(version), case when to_regclass('rowrelay.source') is null then 0 else -1 end)
  from rowrelay.migration;
