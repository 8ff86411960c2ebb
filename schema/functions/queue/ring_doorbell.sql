-- Purpose:    wakes the processes that sleep. Writers call it only while rowrelay.doorbell is armed.
--             Not on a server that allows prepared transactions: PostgreSQL refuses to prepare one that has notified, and
--             an application's PREPARE TRANSACTION must not fail because of us. Processes poll there.
create or replace function rowrelay.ring_doorbell() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if current_setting('max_prepared_transactions') = '0' then
    perform pg_notify('rowrelay_doorbell', '');
  end if;
end
$$;
