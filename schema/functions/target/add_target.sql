-- Purpose:    adds a target. It receives nothing before a table is routed to it.
-- Parameters: name; url (see the README for the kinds); options, such as {"mode": "append", "lanes": 1}
-- Result:     its id
-- Errors:     the name is taken or not allowed; a bad URL or option
create or replace function rowrelay.add_target(name text, url text, options jsonb default '{}') returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  new_id integer;
begin
  perform rowrelay.lock_configuration(); -- who adds the same name waits for its index
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
          hint = case when exists (select from rowrelay.document d join rowrelay.target t on t.id = d.target
                              where t.name = add_target.name and t.dropped_at is null)
                      then 'It is a document; choose another name.'
                      else rowrelay.command('Change it: rowrelay target set %1$s --url %2$s; or drop it first: '
                                            'rowrelay target drop %1$s',
                                            'Change it: select rowrelay.set_target(%1$L, %2$L); or drop it first: '
                                            'select rowrelay.drop_target(%1$L);', name, url) end;
end
$$;
