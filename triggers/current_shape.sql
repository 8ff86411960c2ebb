-- Purpose:    returns the present shape of a capture's row images: the columns that row_to_json() puts into them, in
--             order
-- Parameters: capture
-- Result:     as a row of rowrelay.shape, with the largest possible id; null when the table is gone
create or replace function rowrelay.current_shape(capture rowrelay.capture) returns rowrelay.shape
language plpgsql stable as $$
declare
  shape  rowrelay.shape;
  images record;
begin
  if rowrelay.full_name(capture.relation) is null then
    return null;
  end if;
  select * into images from rowrelay.image_columns(capture);
  select capture.id, coalesce(array_agg(a.attnum order by a.attnum) filter (where s.is_shown), '{}'),
         coalesce(array_agg(a.attname::text order by a.attnum) filter (where s.is_shown), '{}'),
         coalesce(array_agg(a.attnum order by a.attnum) filter (where not s.is_shown), '{}')
    into shape.capture, shape.numbers, shape.names, shape.hidden
    from pg_attribute a
   cross join lateral (
     select (images.keep is null or a.attname = any (images.keep))
       and a.attname <> all (images.leave_out)) as s(is_shown)
   where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped;
  shape.id := 2147483647;
  shape.masks := images.masks;
  shape.key_types := array(select rowrelay.base_type(a.atttypid)::regtype
                             from unnest(capture.key_columns) with ordinality as u(number, position)
                             join pg_attribute a on a.attrelid = capture.relation and a.attnum = u.number
                               and not a.attisdropped
                            order by u.position);
  -- xmin has 32 bits, and a frozen one is older than everything
  select greatest(0, pg_snapshot_xmax(pg_current_snapshot())::text::bigint - coalesce(min(age(a.xmin)),
      0))::text::xid8 into shape.altered_by
    from pg_attribute a where a.attrelid = capture.relation and a.attnum > 0;
  return shape;
end
$$;
