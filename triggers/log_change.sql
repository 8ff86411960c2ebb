-- Purpose:    writes a change to the log and the queue, and wakes sleeping processes: the last step of every generated
--             trigger function. It is one function for all tables, because a session caches the plans of each function,
--             some kilobytes for each statement. Nothing in it depends on the session's search_path.
-- Parameters: as the columns of rowrelay.change; actor, null: nothing of the session is unusual; lanes: where it is
--             queued; bytes: size of its images
-- Result:     true
create or replace function rowrelay.log_change(capture integer, op "char", key text, actor text, db_user text,
                                               old_row json,
                                               new_row json, caveat json, lanes integer[], bytes integer)
                                                 returns boolean
language plpgsql as $$
declare
  id  pg_catalog.int8;
  day pg_catalog.date := rowrelay.partition_day();
  former pg_catalog.int8 := rowrelay.former_lastval();
begin
  -- an INSERT prepares its expressions for every row, an assignment once per transaction
  db_user := coalesce(db_user, rowrelay.login_name());
  if actor is not null then
    caveat := rowrelay.traced(caveat);
  end if;
  if bytes operator(pg_catalog.>) 52428800 then -- rowrelay.large_image()
    bytes := rowrelay.log_large_images(capture, op, key, actor, db_user, old_row, new_row, caveat, bytes);
  else
    insert into rowrelay.change (id, txid, captured_at, day, capture, op, key, actor, db_user,
                                 application_name, client_addr, old_row, new_row, caveat)
    values (rowrelay.next_change_id(), pg_catalog.pg_current_xact_id(), pg_catalog.clock_timestamp(), day, capture, op,
            key, actor, db_user, pg_catalog.current_setting('application_name'), rowrelay.client_addr(), old_row,
            new_row, caveat);
  end if;
  former := rowrelay.keep_lastval(former);
  id := pg_catalog.currval('rowrelay.change_id'::pg_catalog.regclass);
  if lanes is null then
    return true;
  end if;
  insert into rowrelay.queue (change_id, lane, day, bytes) values (id, lanes[1], day, bytes);
  for other in 2 .. pg_catalog.cardinality(lanes) loop
    insert into rowrelay.queue (change_id, lane, day, bytes) values (id, lanes[other], day, bytes);
  end loop;
  if id operator(pg_catalog.<=) pg_catalog.pg_sequence_last_value('rowrelay.doorbell'::pg_catalog.regclass) then
    perform rowrelay.ring_doorbell();
  end if;
  return true;
end
$$;
