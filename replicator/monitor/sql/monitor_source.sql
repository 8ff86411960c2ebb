-- How many changes were captured, whether the server takes no writes, when the last day of the log ends that writers may use, in seconds
-- since 1970, and how many days of the log are old enough to go and cannot.
select coalesce(pg_sequence_last_value('rowrelay.change_id'::regclass), 0) - s.ids_skipped,
       pg_is_in_recovery(),
       coalesce(extract(epoch from (s.open_until + 1)::timestamp), 0)::bigint,
       (select count(*) from rowrelay.day d where d.dropped_at is null and d.note is not null)
  from rowrelay.source s;
