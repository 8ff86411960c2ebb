-- Purpose:    removes the change that removed a row version of a table without a key from the log, because the change
--             that made the version is captured only now, and is not logged either. Nobody has seen the removed change:
--             it is this transaction's own.
-- Parameters: table and ctid of the version
-- Result:     false: the log has no such change, because it will be captured later
create or replace function rowrelay.take_follower(relation oid, version tid) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp set jit = off as $$
declare
  gone rowrelay.follower;
begin
  delete from rowrelay.follower f
   where f.txid = pg_current_xact_id() and f.relation = take_follower.relation and f.version = take_follower.version
  returning f.* into gone;
  if not found then
    return false;
  end if;
  update rowrelay.change c set op = 'i', old_row = null
   where c.id = gone.change_id and c.day = gone.day and c.txid = gone.txid and c.op = 'u';
  if not found then
    delete from rowrelay.queue q
     using rowrelay.change c,
           lateral (select t.id as target, t.lanes, rowrelay.waiting_room(r.capture, r.target) as room
                      from rowrelay.route r join rowrelay.target t on t.id = r.target where r.capture = c.capture
                     union
                    select r.target, r.lanes, rowrelay.waiting_room(c.capture, r.target)
                      from rowrelay.present_routes(c.capture) as r
                     union
                    select s.document, s.lanes, 0 from rowrelay.present_sources(c.capture) as s) as way
     where c.id = gone.change_id and c.day = gone.day
       and q.change_id = c.id
       and q.lane between rowrelay.lane_number(way.target, -1) + way.room
                      and rowrelay.lane_number(way.target, way.lanes) + way.room;
    delete from rowrelay.change c where c.id = gone.change_id and c.day = gone.day and c.txid = gone.txid;
  end if;
  return true;
end
$$;
