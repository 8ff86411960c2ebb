-- Purpose:    logs what a truncate has done to rows that other triggers wrote after the rows of their table had been
--             captured as deleted, one by one
-- Parameters: capture id; the truncated table; the last change id when its rows had been captured
create or replace function rowrelay.record_written(capture_id integer, relation regclass, since bigint) returns void
language plpgsql set lock_timeout = '100ms' set jit = off as $$
declare
  written record;
begin
  for written in
    select c.key, max(c.id) as last from rowrelay.change c
     where c.id > since and c.day = rowrelay.partition_day() and c.capture = capture_id
       and c.txid = pg_current_xact_id() and c.op in ('i', 'u')
     group by c.key order by last
  loop
    if written.key is null then
      perform rowrelay.add_change(capture_id, 't', null, null, null, null, format(
                'triggers wrote to table %s while it was truncated, which has no key: skip this change, and copy the '
                'table again (rowrelay backfill)', relation));
    else
      perform rowrelay.record_state(capture_id, written.key, null);
    end if;
  end loop;
exception when others then -- somebody has the log locked
  perform rowrelay.add_change(capture_id, 't', null, null, null, null, sqlerrm);
end
$$;
