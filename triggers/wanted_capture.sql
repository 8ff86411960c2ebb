-- Purpose:    applies options to a capture. Options that are null stay as they are; a key that no user chose is
--             determined again, and so is one that has lost a column.
-- Parameters: relation; capture as it is, or with the defaults of a new one; then as for rowrelay.capture_table()
-- Result:     the capture with its options
-- Errors:     unknown columns; a key without a unique index; before is neither none nor full; per is neither row nor
--             statement, or the table's kind excludes that; mask is not an object
create or replace function rowrelay.wanted_capture(
  relation regclass, was rowrelay.capture, key text[], lane text[], columns text[], exclude text[], mask jsonb,
    row_filter text,
  before text, capture_origin boolean, per text) returns rowrelay.capture
language plpgsql stable as $$
declare
  wanted  rowrelay.capture := was;
  present constant smallint[] := array(select a.attnum from pg_attribute a
                                        where a.attrelid = relation and a.attnum > 0 and not a.attisdropped);
begin
  wanted.relation_name := rowrelay.full_name(relation);
  if key is not null then
    wanted.key_columns := rowrelay.attribute_numbers(relation, key, 'key');
    wanted.key_is_chosen := true;
    perform rowrelay.check_key(relation, wanted.key_columns);
  elsif not was.key_is_chosen or not was.key_columns operator(pg_catalog.<@) present then
    wanted.key_columns := rowrelay.key_of(relation);
    wanted.key_is_chosen := false;
  end if;
  wanted.key_is_exact := rowrelay.key_is_exact(relation, wanted.key_columns);
  if lane is not null then
    wanted.lane_columns := rowrelay.attribute_numbers(relation, lane, 'lane');
  elsif not was.lane_columns operator(pg_catalog.<@) present then
    wanted.lane_columns := nullif(array(select u.number
                                        from unnest(was.lane_columns) with ordinality as u(number, place)
                                         where u.number = any (present) order by u.place), '{}');
    raise warning 'table %: lane columns were dropped, so they no longer keep changes in order', relation
      using hint = 'Name others: '
                   || rowrelay.command('rowrelay capture %s --lane COLUMNS',
                                       'select rowrelay.capture_table(%L, lane => ''{COLUMNS}'');', relation::text);
  end if;
  if columns is not null then
    wanted.only_columns := rowrelay.attribute_numbers(relation, columns, 'columns');
    wanted.only_names := columns;
  end if;
  if exclude is not null then
    wanted.exclude_columns := rowrelay.attribute_numbers(relation, exclude, 'exclude');
    wanted.exclude_names := exclude;
  end if;
  if mask is not null then
    wanted.mask := rowrelay.mask_by_number(relation, mask);
    wanted.mask_names := mask;
  end if;
  if row_filter is not null then
    wanted.row_filter := nullif(row_filter, '');
  end if;
  if before not in ('none', 'full') then
    raise exception 'before must be none or full, not "%"', before using errcode = 'invalid_parameter_value';
  end if;
  wanted.before := coalesce(wanted_capture.before, was.before);
  wanted.capture_origin := coalesce(wanted_capture.capture_origin, was.capture_origin);
  if per not in ('row', 'statement') then
    raise exception 'per must be row or statement, not "%"', per using errcode = 'invalid_parameter_value';
  end if;
  if per = 'statement' and rowrelay.kind_obstacle(relation) is not null then
    raise exception 'table % cannot be captured by statement: %', relation, rowrelay.kind_obstacle(relation)
      using errcode = 'wrong_object_type',
            hint = 'Capture it by row, as is the default.';
  end if;
  wanted.per := coalesce(wanted_capture.per, was.per);
  return wanted;
end
$$;
