-- Purpose:    finds a target by name and locks the configuration, then its row, against changes by others
-- Parameters: name
-- Result:     its id
-- Errors:     no target has that name
create or replace function rowrelay.target_id(target_name text) returns integer
language plpgsql as $$
declare
  found_id integer;
begin
  perform rowrelay.lock_configuration();
  select t.id into found_id from rowrelay.target t where t.name = target_name
    and t.dropped_at is null for no key update;
  if not found then
    raise exception 'target "%" does not exist', target_name
      using errcode = 'undefined_object',
            hint = coalesce('Targets are: '
                              || (select string_agg(format('"%s"', name), ', ' order by name)
                                    from rowrelay.target where dropped_at is null),
                            'Add one first: '
                              || rowrelay.command('rowrelay target add NAME URL',
                                                  'select rowrelay.add_target(''NAME'', ''URL'');'));
  end if;
  return found_id;
end
$$;
