-- Purpose:    wakes sleeping processes. Writers call it only while rowrelay.doorbell is armed. It does nothing on a
--             server that allows prepared transactions: PostgreSQL refuses to prepare a transaction after NOTIFY, and
--             an application's PREPARE TRANSACTION must not fail. Processes poll there.
create or replace function rowrelay.ring_doorbell() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if current_setting('max_prepared_transactions') = '0' then
    perform pg_notify('rowrelay_doorbell', '');
  end if;
end
$$;
