-- Purpose:    returns a capture with the numbers that its columns have here. Captures store numbers, which survive that
--             a column is renamed; but a dump keeps names, and numbers columns anew if one was dropped before. So in a
--             restored database columns are found by the names that they had when the trigger function was made.
--             rowrelay.renumber() stores the result; until then what captures a row asks here.
--             A column whose name was not known then may be one that was left out, under another name: where any is
--             left out or masked, it is left out, too, and so is said by rowrelay.capture_notes(). What is not here any
--             more counts as dropped.
-- Parameters: capture
-- Result:     the same capture if its numbers are valid, or its table is gone. 0 among exclude_columns: unknown columns
--             are left out
create or replace function rowrelay.renumbered(capture rowrelay.capture) returns rowrelay.capture
language plpgsql stable as $$
declare
  here    constant text := rowrelay.numbered_here(capture.relation);
  present constant text[] := rowrelay.column_names(capture.relation);
  result  rowrelay.capture;
  unknown smallint[];
begin
  if capture.numbered_at is null or capture.numbered_at = here or present is null then
    return capture;
  end if;
  if capture.exclude_columns <> '{}' or capture.mask <> '{}' then
    unknown := array(select a.attnum from pg_attribute a
                      where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped
                        and array_position(capture.column_names, a.attname::text) is null
                      order by a.attnum);
  end if;
  select (capture).* into result; -- plpgsql_check lets no function set attributes of a parameter
  result.key_columns := rowrelay.numbers_here(capture, capture.key_columns);
  result.lane_columns := rowrelay.numbers_here(capture, capture.lane_columns);
  result.only_columns := rowrelay.numbers_here(capture, capture.only_columns);
  result.exclude_columns := rowrelay.numbers_here(capture, capture.exclude_columns);
  result.mask := (select coalesce(jsonb_object_agg((rowrelay.numbers_here(capture, array[m.key::smallint]))[1],
                                                   m.value), '{}')
                    from jsonb_each(capture.mask) as m);
  if cardinality(unknown) > 0 then
    result.exclude_columns := array_remove(result.exclude_columns, 0::smallint) || unknown || 0::smallint;
  end if;
  result.numbered_at := here;
  result.column_names := present;
  return result;
end
$$;
