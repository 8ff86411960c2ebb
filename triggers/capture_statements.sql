-- Purpose:    returns what rowrelay.capture_table() would run on a table, and changes nothing. It stores the capture,
--             composes the statements and undoes the first, so it checks the same; but it takes no lock on the table
--             that a writer would wait for.
-- Parameters: as for rowrelay.capture_table(); ahead: how many tables, not captured yet, would be captured before this
--               one, so that they would have the next numbers
-- Result:     the statements in their order. They would be run in one transaction, under the locks that
--             rowrelay.capture_table() takes, and those of its other changes (rowrelay.capture, rowrelay.route).
-- Errors:     as for rowrelay.capture_table(), without those of locks
create or replace function rowrelay.capture_statements(
  relation regclass, key text[] default null, lane text[] default null, columns text[] default null,
  exclude text[] default null, mask jsonb default null, row_filter text default null, before text default null,
  capture_origin boolean default null, reset boolean default false, target text default null,
  create_table boolean default null, create_like text default null, per text default null, ahead integer default 0,
  path text default rowrelay.names_path())
  returns setof text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  next_id    integer := (select s.last_value + s.is_called::integer + ahead from rowrelay.capture_id_seq s);
  stored     record;
  was        rowrelay.capture;
  capture    rowrelay.capture;
  target_id  integer;
  delivers   rowrelay.target;
  into_table text;
  anew       boolean;
  is_new     boolean;
  statements text[] := '{}';
begin
  begin
    select s.* into stored
      from rowrelay.store_capture(relation, key, lane, columns, exclude, mask, row_filter, before, capture_origin,
                                  reset, next_id, per, path) as s;
    was := stored.was;
    capture := stored.capture;
    if target is not null then
      target_id := rowrelay.target_id(target);
      select t.* into delivers from rowrelay.target t where t.id = target_id;
      into_table := rowrelay.check_route(capture, delivers, null, false);
      if create_table and create_like = 'full' then
        perform rowrelay.tell_left_out(capture, target, into_table);
      end if;
      insert into rowrelay.route as r (capture, target, into_table, create_table, create_like, from_id)
      values (capture.id, delivers.id, into_table, coalesce(create_table, false), coalesce(create_like, 'minimal'),
              rowrelay.last_change_id())
      on conflict on constraint route_pkey do update set until_id = null;
    end if;
    is_new := was.id is not null and was.row_filter is distinct from capture.row_filter;
    anew := is_new
            or exists (select from rowrelay.other_triggers(capture, rowrelay.captured_tables(capture)))
            or rowrelay.has_surplus_triggers(capture, rowrelay.captured_tables(capture));
    statements := statements || rowrelay.trigger_function(capture);
    if anew then
      statements := statements || array(select format('drop trigger if exists %I on %s', t.name, t.relation)
                                          from rowrelay.triggers_to_drop(capture) as t);
    end if;
    statements := statements
      || array(select t.statement
                 from rowrelay.triggers_to_create(capture, rowrelay.captured_tables(capture), anew, is_new) t)
      || array(select rowrelay.trigger_setting(t.relation, t.name, t.state)
                 from rowrelay.triggers_to_create(capture, rowrelay.captured_tables(capture), anew, is_new) t
                where t.state <> 'O')
      || array(select t.statement from rowrelay.triggers_to_set(capture, rowrelay.captured_tables(capture)) t
                where not anew);
    raise exception using errcode = 'RR000';
  exception when sqlstate 'RR000' then
    null; -- all of it is undone
  end;
  return query select u.statement from unnest(statements) with ordinality as u(statement, place) order by u.place;
end
$$;
