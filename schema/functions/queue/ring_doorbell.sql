-- Purpose:    wakes sleeping processes. Writers call it only while rowrelay.doorbell is armed. It does nothing where a
--             writer's transaction could fail for it, and processes poll:
--             - on a server that allows prepared transactions: PostgreSQL refuses to prepare a transaction after
--               NOTIFY, and an application's PREPARE TRANSACTION must not fail;
--             - while the server's queue of notifications, which all databases share, is filling up, because some
--               session that listens stays in a transaction: a commit with a NOTIFY fails when it is full. Asking that
--               also removes what all have read.
create or replace function rowrelay.ring_doorbell() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if current_setting('max_prepared_transactions') = '0' and pg_notification_queue_usage() < 0.1 then
    perform pg_notify('rowrelay_doorbell', '');
  end if;
end
$$;
