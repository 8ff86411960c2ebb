-- Purpose:    the whole of what a trigger function does with an ordinary row, once its key and images are made: writes
--             it to the log and the queue, with who did it, and wakes sleeping processes. It does what
--             rowrelay.log_change() and the head of rowrelay.trigger_body() do, for all tables with the same plans: a
--             session keeps some kilobytes for each statement of each function.
-- Parameters: capture; operation: TG_OP; key; hash that chooses the lane, null: a barrier; images; whether the
--             image before is kept; lanes: of each target the number of its first lane, and how many it has;
--             the time zone to restore, null: none
-- Result:     false: nothing was done but that, because the images are so large that PostgreSQL may refuse them
create or replace function rowrelay.log_row(capture integer, operation text, key text,
                                            hash integer, old_row json, new_row json, keeps_before boolean,
                                            lanes integer[], former_timezone text) returns boolean
language plpgsql as $$
declare
  id      pg_catalog.int8;
  day     pg_catalog.date;
  actor   pg_catalog.text;
  -- an INSERT prepares its expressions for every row, an assignment once per transaction
  db_user pg_catalog.text := rowrelay.login_name();
  caveat  pg_catalog.json;
  bytes   pg_catalog.int4 := case when keeps_before
                               then pg_catalog.int4pl(coalesce(pg_catalog.pg_column_size(new_row), 0),
                                                      coalesce(pg_catalog.pg_column_size(old_row), 0))
                               else coalesce(pg_catalog.pg_column_size(new_row), 0) end;
begin
  if former_timezone is not null then
    former_timezone := pg_catalog.set_config('timezone', former_timezone, true);
  end if;
  if pg_catalog.concat(pg_catalog.current_setting('rowrelay.actor', true),
                       pg_catalog.current_setting('rowrelay.traceparent', true), pg_catalog.current_setting('role'))
       operator(pg_catalog.<>) 'none'
  then
    actor := rowrelay.actor();
    db_user := rowrelay.db_user();
    caveat := rowrelay.traced(null);
  end if;
  if bytes operator(pg_catalog.>) 52428800 then -- rowrelay.large_image(): to be logged in a guarded block
    return false;
  end if;
  day := rowrelay.partition_day();
  insert into rowrelay.change (txid, captured_at, day, capture, op, key, actor, db_user, application_name, client_addr,
                               old_row, new_row, caveat)
  values (pg_catalog.pg_current_xact_id(), pg_catalog.clock_timestamp(), day, capture,
          pg_catalog.lower(pg_catalog.left(operation, 1))::pg_catalog."char", key, actor, db_user,
          pg_catalog.current_setting('application_name'), rowrelay.client_addr(), old_row, new_row, caveat);
  if lanes operator(pg_catalog.=) '{}' then
    return true;
  end if;
  -- a barrier has no hash, and a lane of its own unless there is only one
  hash := pg_catalog.int4and(hash, 2147483647);
  id := pg_catalog.currval('rowrelay.change_id'::pg_catalog.regclass);
  insert into rowrelay.queue (change_id, lane, day, bytes)
  values (id, pg_catalog.int4pl(lanes[1], coalesce(pg_catalog.mod(hash, lanes[2]),
                                                   greatest(pg_catalog.int4mi(1, lanes[2]), -1))), day, bytes);
  for place in 3 .. pg_catalog.cardinality(lanes) by 2 loop
    insert into rowrelay.queue (change_id, lane, day, bytes)
    values (id, pg_catalog.int4pl(lanes[place],
              coalesce(pg_catalog.mod(hash, lanes[pg_catalog.int4pl(place, 1)]),
                       greatest(pg_catalog.int4mi(1, lanes[pg_catalog.int4pl(place, 1)]), -1))), day, bytes);
  end loop;
  if id operator(pg_catalog.<=) pg_catalog.pg_sequence_last_value('rowrelay.doorbell'::pg_catalog.regclass) then
    perform rowrelay.ring_doorbell();
  end if;
  return true;
end
$$;
