-- The last change id, and whether the server takes no writes.
select coalesce(pg_sequence_last_value('rowrelay.change_id'::regclass), 0), pg_is_in_recovery();
