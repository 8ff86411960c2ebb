-- Purpose:    sends the changes of a captured table to a target, as soon as the trigger function is made again
-- Parameters: capture of an existing table; the others as for rowrelay.route()
-- Result:     a notice where the table has rows that are not copied by that; the program says it itself, of all tables
--             that it routes
-- Errors:     as rowrelay.route(); a warning where a table cannot be created
create or replace function rowrelay.add_route(capture rowrelay.capture, target text, into_table text,
                                              create_table boolean,
                                              shared boolean, create_like text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  target_id constant integer := rowrelay.target_id(target);
  default_table text;
  added         rowrelay.route;
  is_again      boolean;
  goes_there    boolean;
  is_there      boolean; -- a mirror of that kind has been asked for before, so what it lacks has been told
begin
  if create_like not in ('minimal', 'full') then
    raise exception 'a mirror cannot be created like "%"', create_like using errcode = 'invalid_parameter_value',
      hint = 'It is created minimal (columns, types and key) or full.';
  end if;
  default_table := rowrelay.check_route(capture, t, into_table, shared) from rowrelay.target t where t.id = target_id;
  if create_table and exists (select from rowrelay.target t
                               where t.id = target_id and t.url !~ '^(postgres|elasticsearch|opensearch)') then
    raise warning 'target "%" has no tables: nothing is created there for table %', add_route.target,
      capture.relation_name;
  end if;
  if create_like = 'full' and exists (select from rowrelay.target t
                                       where t.id = target_id
                                         and (t.url !~ '^postgres' or t.options ->> 'mode' = 'append')) then
    raise warning 'target "%" has no mirrors: there is nothing to be like table %', add_route.target,
      capture.relation_name;
  end if;
  -- What is still queued for its place may be in other lanes than new changes.
  is_again := exists (select from rowrelay.route r
                       where r.target = target_id and r.capture = add_route.capture.id and r.until_id is not null);
  goes_there := exists (select from rowrelay.route r
                         where r.target = target_id and r.capture = add_route.capture.id and r.until_id is null
                           and r.into_table = coalesce(add_route.into_table, r.into_table));
  is_there := exists (select from rowrelay.route r
                       where r.capture = add_route.capture.id and r.target = target_id and r.until_id is null
                         and r.create_table and r.create_like = 'full'
                         and r.into_table = coalesce(add_route.into_table, r.into_table));
  -- A batch in flight goes where it went; what comes to that place from now on must not be overtaken.
  if exists (select from rowrelay.route r
              where r.target = target_id and r.capture = add_route.capture.id
                and r.place <> rowrelay.place_of(add_route.into_table)) then
    perform rowrelay.lock_target(target_id);
  end if;
  insert into rowrelay.route as r (capture, target, into_table, create_table, create_like, from_id)
  values (capture.id, target_id, coalesce(add_route.into_table, default_table),
          coalesce(add_route.create_table, false), coalesce(add_route.create_like, 'minimal'),
          rowrelay.last_change_id())
  on conflict on constraint route_pkey do update
    set into_table = coalesce(add_route.into_table, r.into_table), until_id = null,
        create_table = coalesce(add_route.create_table, r.until_id is null and r.create_table),
        create_like = coalesce(add_route.create_like, case when r.until_id is null then r.create_like end, 'minimal'),
        from_id = case when r.until_id is null then r.from_id else excluded.from_id end,
        former_ends = array_remove(r.former_ends || r.until_id, null)
  returning * into added;
  perform rowrelay.check_left_behind(t, added.place) from rowrelay.target t where t.id = target_id;
  if added.create_table and add_route.create_like = 'full' and not is_there then
    perform rowrelay.tell_left_out(capture, add_route.target, added.into_table);
  end if;
  if not goes_there and current_setting('rowrelay.shell', true) is distinct from 'on'
     and (select rowrelay.keeps_state(t) from rowrelay.target t where t.id = target_id)
     and rowrelay.may_have_rows(capture.relation) then
    raise notice 'the rows that table % has already are not copied to "%"', capture.relation_name, add_route.target
      using hint = 'To copy them: ' || rowrelay.command('rowrelay backfill %s --to %s',
                                                        'select rowrelay.backfill(%L, %L);', capture.relation_name,
                                                        add_route.target);
  end if;
  perform rowrelay.check_indexes(target_id);
  -- A table that was dropped has left its place.
  update rowrelay.route r set until_id = rowrelay.last_change_id()
   where r.target = target_id and r.place = added.place and r.until_id is null
     and exists (select from rowrelay.capture c
                  where c.id = r.capture and c.relation <> 0
                    and not exists (select from pg_class o where o.oid = c.relation));
  if is_again or exists (select from rowrelay.route r
                          where r.target = target_id and r.capture <> capture.id
                            and r.capture = any (rowrelay.captures_of_place(capture.id, target_id))) then
    perform rowrelay.add_change(capture.id, 'b', null, null, null, null);
  end if;
end
$$;
