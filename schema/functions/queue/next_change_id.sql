-- Purpose:    assigns a change id, after those that this server may have lost: see rowrelay.continue_ids(). It is part
--             of the plan of whoever calls it, and costs no call but in a session's first change.
create or replace function rowrelay.next_change_id() returns bigint
language sql volatile as $$
  -- the sequence's oid: another one, where the database was restored in this session's time
  select case when pg_catalog.current_setting('rowrelay.ids_continue', true) operator(pg_catalog.=)
                   'rowrelay.change_id'::pg_catalog.regclass::pg_catalog.oid::pg_catalog.text
                   or rowrelay.continue_ids() is not null
              then pg_catalog.nextval('rowrelay.change_id'::pg_catalog.regclass) end
$$;
