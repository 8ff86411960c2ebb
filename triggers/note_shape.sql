-- Purpose:    records the shape of a capture's row images from now on (rowrelay.shape), if it has changed, and
--             the values that older rows have in columns that were added
-- Parameters: capture
create or replace function rowrelay.note_shape(capture rowrelay.capture) returns void
language plpgsql as $$
declare
  shape rowrelay.shape := rowrelay.current_shape(capture);
  last  rowrelay.shape;
begin
  select s.* into last from rowrelay.shape s where s.capture = note_shape.capture.id order by s.id desc limit 1;
  perform rowrelay.note_older_values(capture, last, shape);
  if (last.numbers, last.names, last.masks::text, last.hidden, last.key_types)
     is distinct from (shape.numbers, shape.names, shape.masks::text, shape.hidden, shape.key_types) then
    -- The id is read last: all changes with larger ids have this shape.
    insert into rowrelay.shape (capture, from_id, begins, was_empty, numbers, names, masks, hidden, key_types,
                                altered_by)
    values (shape.capture, rowrelay.last_change_id(), false, false, shape.numbers, shape.names, shape.masks,
            shape.hidden,
            shape.key_types, shape.altered_by);
  end if;
end
$$;
