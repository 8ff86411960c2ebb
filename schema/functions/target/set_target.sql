-- Purpose:    changes a target's URL or options; running processes apply it at their next claim. Before the URL, or how
--             batches are held, changes, it waits until no batch of the target is in flight; before the number of lanes
--             does, for writers of tables that went there.
-- Parameters: name; url (null: unchanged); options to set (a null value resets one; null: unchanged)
-- Errors:     no such target; a bad URL or option; a new number of lanes while tables are routed there; no lock on a
--             table that was within a minute
create or replace function rowrelay.set_target(name text, url text default null, options jsonb default null)
  returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  target_id integer;
  known     rowrelay.target;
  new_lanes smallint;
begin
  perform rowrelay.lock_configuration();
  -- A batch in flight goes where it went, under the rules it was claimed by; what comes after it must not overtake it.
  if set_target.url is not null or set_target.options ?| '{claim,guarantee,mode}' then
    -- Before its row: a batch that is about to halt its target would wait for us while we wait for it.
    perform rowrelay.lock_target(t.id) from rowrelay.target t
      where t.name = set_target.name and t.dropped_at is null;
  end if;
  target_id := rowrelay.target_id(name);
  -- A writer that began before a route was removed adds to the lanes of that time. Released tables have none.
  if set_target.options ? 'lanes' then
    perform rowrelay.lock_tables(rowrelay.captured_tables(c), 'share row exclusive', '1 min')
       from rowrelay.route r
       join rowrelay.capture c on c.id = r.capture and c.released_at is null
       join pg_class o on o.oid = c.relation
      where r.target = target_id and r.until_id is not null;
  end if;
  select t.* into known from rowrelay.target t where t.id = target_id;
  new_lanes := rowrelay.check_target_change(known, url, options);
  update rowrelay.target t
     set url = coalesce(set_target.url, t.url),
         options = jsonb_strip_nulls(t.options || coalesce(set_target.options, '{}')),
         lanes = new_lanes,
         version = t.version + 1
   where t.id = target_id;
  if set_target.url is not null or set_target.options ? 'mode' then
    perform rowrelay.check_left_behind(t, r.place)
       from rowrelay.target t join rowrelay.route r on r.target = t.id and r.until_id is null
      where t.id = target_id;
  end if;
  -- A copy that is under way goes to the former URL: it begins again.
  if set_target.url is not null then
    update rowrelay.backfill b set snapshot = null where b.target = target_id and b.state = 'copying';
  end if;
  perform rowrelay.add_lanes(target_id);
  update rowrelay.target t set version = t.version + 1
   where t.id in (select d.target from rowrelay.document d where d.delivers_to = target_id);
  perform rowrelay.check_indexes(target_id);
end
$$;
