-- Purpose:    the whole of what a trigger function does with an ordinary row, once its key and images are made: writes
--             it to the log and the queue, with who did it, and wakes sleeping processes. It does what
--             rowrelay.log_change() and the head of rowrelay.trigger_body() do, for all tables with the same plans: a
--             session keeps some kilobytes for each statement of each function.
--
--             PL/pgSQL prepares each expression, and each function in it, once in a transaction, and those of an
--             INSERT for every row; so there are few of both, and what is known when the caller is made is an argument.
-- Parameters: the time zone to restore (rowrelay.pin_timezone), empty: none, null: it was not changed as the images
--             need it; this is the first, because arguments are evaluated in their order; capture; operation: TG_OP;
--             key; lane of the first target, null: there is none; hash that chooses the lane, null: a barrier; number
--             of the first lane and how many lanes each other target has, null: there are none; images; whether the
--             image before is kept
-- Result:     false: nothing was done but that, because there are no images, or ones so large that PostgreSQL may
--             refuse them
create or replace function rowrelay.log_row(former_timezone text, capture integer, operation text, key text,
                                            lane integer, hash integer, more_lanes integer[], old_row json,
                                            new_row json, keeps_before boolean) returns boolean
language plpgsql as $$
declare
  id      pg_catalog.int8;
  former  pg_catalog.int8;
  day     pg_catalog.date := rowrelay.partition_day();
  actor   pg_catalog.text;
  db_user pg_catalog.text := pg_catalog.current_setting('session_authorization');
  caveat  pg_catalog.json;
  bytes   pg_catalog.int4 := coalesce(pg_catalog.pg_column_size(new_row), 0);
begin
  if (former_timezone operator(pg_catalog.<>) '') is not false then
    if former_timezone is null then
      return false;
    end if;
    former_timezone := pg_catalog.set_config('timezone', former_timezone, true);
  end if;
  if pg_catalog.concat(pg_catalog.current_setting('rowrelay.actor', true),
                       pg_catalog.current_setting('rowrelay.traceparent', true), pg_catalog.current_setting('role'),
                       pg_catalog.current_setting('rowrelay.ids_continue', true)) operator(pg_catalog.<>)
     ('none' operator(pg_catalog.||) 'rowrelay.change_id'::pg_catalog.regclass::pg_catalog.oid::pg_catalog.text)
     or db_user operator(pg_catalog.=) '' -- see rowrelay.login_name()
  then
    if pg_catalog.current_setting('rowrelay.ids_continue', true)
       is distinct from 'rowrelay.change_id'::pg_catalog.regclass::pg_catalog.oid::pg_catalog.text
    then
      perform rowrelay.continue_ids(); -- as rowrelay.next_change_id() does
    end if;
    if pg_catalog.concat(pg_catalog.current_setting('rowrelay.actor', true),
                         pg_catalog.current_setting('rowrelay.traceparent', true),
                         pg_catalog.current_setting('role')) operator(pg_catalog.<>) 'none'
       or db_user operator(pg_catalog.=) ''
    then
      actor := rowrelay.actor();
      db_user := rowrelay.db_user();
      caveat := rowrelay.traced(null);
    end if;
  end if;
  if keeps_before then
    bytes := pg_catalog.int4pl(bytes, coalesce(pg_catalog.pg_column_size(old_row), 0));
  end if;
  if bytes operator(pg_catalog.>) 52428800 then -- rowrelay.large_image(): to be logged in a guarded block
    return false;
  end if;
  former := rowrelay.former_lastval();
  insert into rowrelay.change (txid, captured_at, day, capture, op, key, actor, db_user, application_name, client_addr,
                               old_row, new_row, caveat)
  values (pg_catalog.pg_current_xact_id(), pg_catalog.clock_timestamp(), day, capture,
          pg_catalog.lower(operation collate pg_catalog."C")::pg_catalog."char", key, actor, db_user,
          pg_catalog.current_setting('application_name'), rowrelay.client_addr(), old_row, new_row, caveat);
  former := rowrelay.keep_lastval(former);
  if lane is null then
    return true;
  end if;
  id := pg_catalog.currval('rowrelay.change_id'::pg_catalog.regclass);
  insert into rowrelay.queue (change_id, lane, day, bytes) values (id, lane, day, bytes);
  if more_lanes is not null then
    for place in 1 .. pg_catalog.cardinality(more_lanes) by 2 loop
      -- a barrier has a lane of its own unless there is only one
      insert into rowrelay.queue (change_id, lane, day, bytes)
      values (id, pg_catalog.int4pl(more_lanes[place],
                coalesce(pg_catalog.mod(pg_catalog.int4and(hash, 2147483647),
                                        more_lanes[pg_catalog.int4pl(place, 1)]),
                         greatest(pg_catalog.int4mi(1, more_lanes[pg_catalog.int4pl(place, 1)]), -1))), day, bytes);
    end loop;
  end if;
  if id operator(pg_catalog.<=) pg_catalog.pg_sequence_last_value('rowrelay.doorbell'::pg_catalog.regclass) then
    perform rowrelay.ring_doorbell();
  end if;
  return found; -- it is true, and a variable needs no plan
end
$$;
