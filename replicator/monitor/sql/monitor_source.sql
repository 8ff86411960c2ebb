-- How many changes were captured; whether this server is a standby; until when writers have a day of the log to write
-- to, in seconds since 1970; how many days of the log are past their retention and cannot be dropped; how many it has,
-- and their bytes.
-- Gives monitored: captured, is_standby, open_until, overdue, days, bytes
select coalesce(pg_sequence_last_value('rowrelay.change_id'::regclass), 0)
         - coalesce(pg_sequence_last_value('rowrelay.ids_skipped'::regclass), 0) as captured,
       pg_is_in_recovery() as is_standby,
       coalesce(extract(epoch from (s.open_until + 1)::timestamp), 0)::bigint as open_until,
       (select count(*) from rowrelay.day d where d.dropped_at is null and d.note is not null) as overdue,
       l.days, l.bytes
  from rowrelay.source s
  cross join rowrelay.log_size() as l;
