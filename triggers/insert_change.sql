-- Purpose:    logs and queues one change; rowrelay.add_change() handles those that are too large
-- Parameters: as the columns of rowrelay.change; hash that chooses the lane, null for a barrier; problem: for the
--             caveat
-- Result:     its id
create or replace function rowrelay.insert_change(capture_id integer, op "char", key text, lane_hash integer,
                                                  old_row json,
                                               new_row json, problem text default null, caveat json default null)
                                                 returns bigint
language plpgsql set search_path = pg_catalog, pg_temp set jit = off as $$
declare
  added  rowrelay.change;
  former bigint := rowrelay.former_lastval();
begin
  insert into rowrelay.change as c (id, txid, captured_at, day, capture, op, key, actor, db_user,
                                    application_name, client_addr, old_row, new_row, caveat)
  values (rowrelay.next_change_id(), pg_current_xact_id(), clock_timestamp(), rowrelay.partition_day(), capture_id,
          insert_change.op, insert_change.key, rowrelay.actor(), rowrelay.db_user(),
          current_setting('application_name'), rowrelay.client_addr(), insert_change.old_row, insert_change.new_row,
          rowrelay.traced(case when problem is not null then json_build_object('problem', problem)
                               else insert_change.caveat end))
  returning c.* into added;
  former := rowrelay.keep_lastval(former);
  if insert_change.op = 't' then
    insert into rowrelay.truncation (capture, change_id, day, txid, captured_at, condition, is_known)
    values (capture_id, added.id, added.day, added.txid, added.captured_at, insert_change.new_row ->> 'where',
            problem is null);
  end if;
  perform rowrelay.enqueue(added, lane_hash);
  return added.id;
end
$$;
