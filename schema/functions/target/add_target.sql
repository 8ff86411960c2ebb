-- Purpose:    adds a target. It receives nothing before a table is routed to it.
-- Parameters: name; url (see the README for the kinds); options, such as {"mode": "append", "lanes": 1}
-- Result:     its id
-- Errors:     the name is taken or not allowed; a bad URL or option
create or replace function rowrelay.add_target(name text, url text, options jsonb default '{}') returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  new_id integer;
begin
  perform rowrelay.check_target_name(name);
  perform rowrelay.check_target(url, options);
  insert into rowrelay.target as t (name, url, options, lanes)
  values (add_target.name, add_target.url, jsonb_strip_nulls(add_target.options),
          (select coalesce(add_target.options ->> 'lanes', k.defaults ->> 'lanes')::smallint
             from rowrelay.target_kind(add_target.url) as k))
  returning t.id into new_id;
  perform rowrelay.add_lanes(new_id);
  return new_id;
exception when unique_violation then
  raise exception 'target "%" already exists', name
    using errcode = 'duplicate_object',
          hint = format('Change it with rowrelay.set_target(%L, ...), or drop it with rowrelay.drop_target(%L).',
                        name, name);
end
$$;
