-- Purpose:    refuses a route that cannot work, before anything is stored
-- Parameters: capture and target, also new ones whose id is 0; into_table: name of the table there (null: as for an
--             existing route, else the default); shared: whether another table's changes may go into the same table
-- Result:     the name that the table has there by default
-- Errors:     the target is a document; into_table is empty; the table is being copied there, or would be its own
--             target, or share another one's
create or replace function rowrelay.check_route(capture rowrelay.capture, target rowrelay.target, into_table text,
                                                shared boolean) returns text
language plpgsql stable as $$
declare
  relation      constant regclass := capture.relation;
  -- read now, before another session renames the table
  default_table text := rowrelay.full_name(capture.relation);
  known_table   text;
begin
  if exists (select from rowrelay.document d where d.target = target.id) then
    raise exception '"%" is a document, not a target', target.name using errcode = 'invalid_parameter_value',
      hint = 'The tables that a document is built from are named when it is added.';
  end if;
  if into_table = '' then
    raise exception 'into_table is empty' using errcode = 'invalid_parameter_value',
      hint = 'Omit it to use the name that the table has here.';
  end if;
  if target.url ~ '^postgres' and into_table is not null and not rowrelay.is_table_name(into_table) then
    raise exception 'into_table "%" is not the name of a table', into_table using errcode = 'invalid_parameter_value',
      hint = 'Give NAME or SCHEMA.NAME; double quotes around what is not of small letters, digits and underscores.';
  end if;
  if target.options ->> 'mode' = 'append' then
    default_table := rowrelay.changes_name(relation);
  end if;
  if rowrelay.waiting_room(capture.id, target.id) <> 0
     and exists (select from rowrelay.route r
                  where r.capture = capture.id and r.target = target.id and r.into_table <> check_route.into_table) then
    raise exception 'table % is being copied to target "%"', relation, target.name
      using errcode = 'object_not_in_prerequisite_state',
            hint = 'Wait until it is copied, or cancel that: '
                     || rowrelay.command('rowrelay backfill %s --to %s --cancel',
                                         'select rowrelay.cancel_backfill(%L, %L);', relation::text, target.name);
  end if;
  select r.into_table into known_table from rowrelay.route r where r.capture = capture.id and r.target = target.id;
  -- an existing route was checked when it was added
  if not exists (select from rowrelay.route r
                  where r.capture = capture.id and r.target = target.id and r.until_id is null
                    and r.into_table = coalesce(check_route.into_table, r.into_table))
     or target.url ~ '^postgres(ql)?:$' then
    perform rowrelay.check_into(capture, target, coalesce(check_route.into_table, known_table, default_table), shared);
  end if;
  return default_table;
end
$$;
