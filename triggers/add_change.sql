-- Purpose:    logs and queues one change. PostgreSQL refuses a row of more than a gigabyte, and may lack the memory for
--             less, although the writer's own statement succeeded: then the change is logged without images, and says
--             why.
-- Parameters: as the columns of rowrelay.change; hash that chooses the lane, null for a barrier; problem: for the
--             caveat
-- Result:     its id
create or replace function rowrelay.add_change(capture_id integer, op "char", key text, lane_hash integer, old_row json,
                                               new_row json, problem text default null, caveat json default null)
                                                 returns bigint
language plpgsql set search_path = pg_catalog, pg_temp set jit = off as $$
begin
  if coalesce(pg_column_size(old_row), 0) + coalesce(pg_column_size(new_row), 0) > rowrelay.large_image() then
    begin
      return rowrelay.insert_change(capture_id, op, key, lane_hash, old_row, new_row, problem, caveat);
    exception when program_limit_exceeded or out_of_memory or internal_error or data_exception then
      old_row := null;
      new_row := null;
      problem := sqlerrm;
    end;
  end if;
  return rowrelay.insert_change(capture_id, op, key, lane_hash, old_row, new_row, problem, caveat);
end
$$;
