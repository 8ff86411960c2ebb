-- Purpose:    sends the changes of a captured table to a target from now on. Takes no lock on the table, but
--             where another target of the same database had its place, see rowrelay.check_left_behind().
-- Parameters: relation; target; into_table: name of the table there (null: as here); create_table: create that table
--             when it is missing, and add columns that it lacks later (null: as for an existing route, else no);
--             shared: whether another table's changes may go into the same table there; create_like: a mirror is
--             created with columns, types and key ('minimal'), or with all that lets it take what is delivered ('full';
--             null: as for an existing route, else 'minimal'), see rowrelay.mirror_parts()
-- Result:     a notice for each thing of the table that a mirror created like that does not have
-- Errors:     table not captured; no such target; the table would be its own target, or share another one's
create or replace function rowrelay.route(relation regclass, target text, into_table text default null,
                                          create_table boolean default null,
                                          shared boolean default false, create_like text default null) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  capture rowrelay.capture := rowrelay.captured(relation);
begin
  if rowrelay.full_name(relation) is null then
    raise exception 'table % is gone', capture.relation_name using errcode = 'undefined_table';
  end if;
  perform rowrelay.add_route(capture, target, into_table, create_table, shared, create_like);
  perform rowrelay.make_trigger_function(capture.id);
end
$$;
