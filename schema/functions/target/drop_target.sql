-- Purpose:    drops a target with its routes, documents, queue and refused changes. The log and its receipts stay.
--             Waits until no batch of the target is in flight.
-- Parameters: name
-- Errors:     no such target
create or replace function rowrelay.drop_target(name text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  target_id integer;
  relation  regclass;
begin
  perform rowrelay.lock_configuration();
  -- What is in flight could arrive after what another target of this name delivers.
  -- Before its row: a batch that is about to halt its target would wait for us while we wait for it.
  perform rowrelay.lock_target(t.id) from rowrelay.target t
    where t.name = drop_target.name and t.dropped_at is null;
  target_id := rowrelay.target_id(name);
  perform rowrelay.drop_target(t.name)
     from rowrelay.document d join rowrelay.target t on t.id = d.target
    where d.delivers_to = target_id and t.dropped_at is null;
  for relation in
    select c.relation from rowrelay.route r join rowrelay.capture c on c.id = r.capture
     where r.target = target_id and r.until_id is null and c.released_at is null
  loop
    perform rowrelay.unroute(relation, name);
  end loop;
  update rowrelay.target t set dropped_at = now(), version = t.version + 1 where t.id = target_id;
  update rowrelay.route r set until_id = rowrelay.last_change_id() where r.target = target_id and r.until_id is null;
  perform rowrelay.make_trigger_function(c.id)
     from rowrelay.capture c
    where c.released_at is null
      and c.id in (select s.capture from rowrelay.document_source s where s.document = target_id);
  delete from rowrelay.refusal f where f.target = target_id;
  delete from rowrelay.hold h where h.target = target_id;
  delete from rowrelay.trouble o where o.target = target_id;
  delete from rowrelay.floor o where o.target = target_id;
  -- rowrelay.maintain() later removes what a process has claimed just now and what a writer still adds.
  delete from rowrelay.queue q
   where q.ctid = any (array(select u.ctid from rowrelay.queue u where u.lane between rowrelay.lane_number(target_id,
       -1) and rowrelay.lane_number(target_id, 1023)
                              for update skip locked));
end
$$;
