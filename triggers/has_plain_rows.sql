-- Purpose:    whether the image of every ordinary row of a table is what row_to_json() makes of it, and cannot fail, so
--             that a trigger function makes it where nothing is guarded
-- Parameters: capture
-- Result:     false for a table without ordinary rows (rowrelay.has_ordinary_rows), with excluded or masked columns,
--             rows that change lanes, a key that may be null, or columns whose types need more
create or replace function rowrelay.has_plain_rows(capture rowrelay.capture) returns boolean
language plpgsql stable as $$
begin
  return rowrelay.has_ordinary_rows(capture) and not rowrelay.can_change_lane(capture)
     and rowrelay.row_image((select c.reltype from pg_class c where c.oid = capture.relation), 'new')
           = 'pg_catalog.row_to_json(new.*)'
     -- the size of such a value does not bound that of its text
     and not exists (select from pg_attribute a
                      where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped
                        and (a.attnum = any (rowrelay.live_key(capture)) and not a.attnotnull
                             or rowrelay.may_be_long(a.atttypid)))
     and not exists (select from rowrelay.image_columns(capture) as i
                      where i.keep is not null or cardinality(i.leave_out) > 0 or i.masks::text <> '{}');
end
$$;
