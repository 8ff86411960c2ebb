-- Purpose:    refuses a change of a target's URL or options that cannot work, before anything is stored
-- Parameters: known: the target as it is; url (null: unchanged); options to set (a null value resets one; null:
--             unchanged)
-- Result:     its number of lanes afterwards
-- Errors:     a bad URL or option; a new number of lanes while tables are routed there
create or replace function rowrelay.check_target_change(known rowrelay.target, url text, options jsonb)
  returns smallint
language plpgsql stable as $$
declare
  new_lanes smallint;
begin
  perform rowrelay.check_target(coalesce(check_target_change.url, known.url),
                                known.options || coalesce(check_target_change.options, '{}'));
  new_lanes := known.lanes;
  if check_target_change.options ? 'lanes' then
    select coalesce(check_target_change.options ->> 'lanes', k.defaults ->> 'lanes') into new_lanes
      from rowrelay.target_kind(coalesce(check_target_change.url, known.url)) as k;
  end if;
  if exists (select from rowrelay.document d where d.target = known.id)
     and (check_target_change.url is not null or check_target_change.options ?| '{lanes,mode}') then
    raise exception '"%" is a document: its URL, lanes and mode cannot be set', known.name
      using errcode = 'invalid_parameter_value', hint = 'Set those of the target that it goes to.';
  end if;
  -- The trigger functions compute a key's lane. If it changed, two lanes would hold changes of one key, and nobody
  -- would claim from removed lanes.
  if new_lanes <> known.lanes
     and (exists (select from rowrelay.route r where r.target = known.id and r.until_id is null)
          or exists (select from rowrelay.queue q where rowrelay.lane_target(q.lane) = known.id)
          or exists (select from rowrelay.refusal f where f.target = known.id)) then
    raise exception 'the number of lanes of target "%" cannot change while tables are routed to it or changes wait',
      known.name
      using errcode = 'object_not_in_prerequisite_state',
            hint = 'Add another target, and route the tables to it: '
                     || rowrelay.command('rowrelay target add NAME %s --option lanes=%s',
                                         'select rowrelay.add_target(''NAME'', %L, ''{"lanes": %s}'');', known.url,
                                         new_lanes::text);
  end if;
  if check_target_change.url is not null or check_target_change.options ? 'mode' then
    known.url := coalesce(check_target_change.url, known.url);
    known.options := known.options || coalesce(check_target_change.options, '{}');
    -- tables that share a place here may go on to do so
    perform rowrelay.check_into(c, known, r.into_table,
                                exists (select from rowrelay.route o
                                         where o.target = r.target and o.place = r.place and o.until_id is null
                                           and o.capture <> r.capture))
       from rowrelay.route r join rowrelay.capture c on c.id = r.capture and c.released_at is null
      where r.target = known.id and r.until_id is null;
    perform rowrelay.check_into(c, known, r.into_table, false)
       from rowrelay.document d
       join rowrelay.route r on r.target = d.target and r.until_id is null
       join rowrelay.capture c on c.id = r.capture
       join rowrelay.target t on t.id = d.target and t.dropped_at is null
      where d.delivers_to = known.id;
  end if;
  return new_lanes;
end
$$;
