-- Whether another session waits for the end of this claim's transaction, as rowrelay.lock_lanes() does.
select exists (select from pg_locks w
                where w.locktype = 'transactionid' and not w.granted
                  and w.transactionid::text::bigint = pg_current_xact_id_if_assigned()::text::bigint & 4294967295);
