-- Purpose:    changes a target's URL or options; running processes apply it at their next claim. Before the URL, or how
--             batches are held, changes, it waits until no batch of the target is in flight.
-- Parameters: name; url (null: unchanged); options to set (a null value resets one; null: unchanged)
-- Errors:     no such target; a bad URL or option; a new number of lanes while tables are routed there
create or replace function rowrelay.set_target(name text, url text default null, options jsonb default null)
  returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  target_id integer := rowrelay.target_id(name);
  known     rowrelay.target;
  new_lanes smallint;
begin
  -- A batch in flight goes where it went, under the rules it was claimed by; what comes after it must not overtake it.
  if set_target.url is not null or set_target.options ?| '{claim,guarantee,mode}' then
    perform rowrelay.lock_target(target_id);
  end if;
  select t.* into known from rowrelay.target t where t.id = target_id;
  perform rowrelay.check_target(coalesce(set_target.url, known.url),
                                known.options || coalesce(set_target.options, '{}'));
  new_lanes := known.lanes;
  if set_target.options ? 'lanes' then
    select coalesce(set_target.options ->> 'lanes', k.defaults ->> 'lanes') into new_lanes
      from rowrelay.target_kind(coalesce(set_target.url, known.url)) as k;
  end if;
  if exists (select from rowrelay.document d where d.target = target_id)
     and (set_target.url is not null or set_target.options ?| '{lanes,mode}') then
    raise exception '"%" is a document: its URL, lanes and mode cannot be set', name
      using errcode = 'invalid_parameter_value', hint = 'Set those of the target that it goes to.';
  end if;
  -- The trigger functions compute a key's lane. If it changed, two lanes would hold changes of one key, and nobody
  -- would claim from removed lanes.
  if new_lanes <> known.lanes
     and (exists (select from rowrelay.route r where r.target = target_id and r.until_id is null)
          or exists (select from rowrelay.queue q where rowrelay.lane_target(q.lane) = target_id)
          or exists (select from rowrelay.refusal f where f.target = target_id)) then
    raise exception 'the number of lanes of target "%" cannot change while tables are routed to it or changes wait',
      name
      using errcode = 'object_not_in_prerequisite_state',
            hint = 'Add another target, and route the tables to it: '
                     || rowrelay.command('rowrelay target add NAME %s --option lanes=%s',
                                         'select rowrelay.add_target(''NAME'', %L, ''{"lanes": %s}'');', known.url,
                                         new_lanes::text);
  end if;
  if set_target.url is not null then
    known.url := set_target.url;
    perform rowrelay.check_into(c, known, r.into_table, true)
       from rowrelay.route r join rowrelay.capture c on c.id = r.capture and c.released_at is null
      where r.target = target_id and r.until_id is null;
  end if;
  update rowrelay.target t
     set url = coalesce(set_target.url, t.url),
         options = jsonb_strip_nulls(t.options || coalesce(set_target.options, '{}')),
         lanes = new_lanes,
         version = t.version + 1
   where t.id = target_id;
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
