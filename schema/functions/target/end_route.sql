-- Purpose:    notes up to which change a table was routed to targets. What is queued is still delivered, unless the
--             table is being copied there as a whole. Where another table shares its place, a barrier keeps what it has
--             left before what the other one brings from now on.
-- Parameters: capture; target (null: all)
-- Result:     whether it was routed there
create or replace function rowrelay.end_route(capture_id integer, target_id integer) returns boolean
language plpgsql as $$
declare
  ended integer[]; -- targets
begin
  with route as (
    update rowrelay.route r set until_id = rowrelay.last_change_id()
     where r.capture = capture_id and r.until_id is null and (target_id is null or r.target = target_id)
    returning r.target
  )
  select coalesce(array_agg(r.target), '{}') into ended from route r;
  perform rowrelay.copy_forget(capture_id, t) from unnest(ended) as t;
  delete from rowrelay.gap g where g.capture = capture_id and (target_id is null or g.target = any (ended));
  perform rowrelay.add_change(other.id, 'b', null, null, null, null)
     from (select distinct c.id
             from rowrelay.route own
             join rowrelay.route r on r.target = own.target and r.place = own.place and r.until_id is null
             join rowrelay.capture c on c.id = r.capture and c.released_at is null
             join pg_class o on o.oid = c.relation
            where own.capture = capture_id and own.target = any (ended)) as other;
  return ended <> '{}';
end
$$;
