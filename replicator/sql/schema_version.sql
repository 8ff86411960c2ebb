-- The newest migration that has been applied; 0 while an installation has not got that far.
select coalesce(max(version), 0) from rowrelay.migration;
