-- Purpose:    returns the targets that changes of a captured table go to now
-- Parameters: capture id
-- Result:     number of the target, its lanes
create or replace function rowrelay.present_routes(capture_id integer) returns table (target integer, lanes integer)
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
declare
  written constant jsonb := rowrelay.written_routes(capture_id);
begin
  if written is not null then
    return query
      select w.target, w.lanes from jsonb_to_recordset(written -> 'targets') as w(target integer, lanes integer);
    return;
  end if;
  return query
    select t.id, t.lanes::integer
      from rowrelay.route r join rowrelay.target t on t.id = r.target
     where r.capture = capture_id and r.until_id is null and t.dropped_at is null;
end
$$;
