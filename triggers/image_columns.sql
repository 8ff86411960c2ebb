-- Purpose:    returns the columns of a capture's row images, as the table is now. Columns are left out or masked both
--             by number, which survives a rename, and by name, which survives a drop and re-creation: in doubt a column
--             is left out. For the same reason a chosen column (option columns) is found by its name only if the column
--             that had that name was dropped. Virtual generated columns are left out always.
-- Parameters: capture
-- Result:     keep: names to keep, null: all; leave_out: names to leave out; masks: {name: value to show instead}
create or replace function rowrelay.image_columns(capture rowrelay.capture, out keep text[], out leave_out text[],
                                                  out masks json)
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  with present as (
    select a.attnum, a.attname::text as name, a.attnum = any (capture.key_columns) as in_key,
           a.attgenerated = 'v' as is_virtual -- PostgreSQL tells a trigger nothing of it
      from pg_attribute a
     where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped
  )
  select case
           when capture.only_columns is not null then
             array(select p.name from present p
                    where p.attnum = any (capture.only_columns)
                       or capture.only_columns[array_position(capture.only_names, p.name)] not in (select attnum
                           from present))
           -- an inheritance child's own columns are not captured
           when rowrelay.has_children(capture.relation) then
             array(select p.name from present p)
         end,
         array(select p.name from present p
                where not p.in_key
                  and (p.is_virtual or p.attnum = any (capture.exclude_columns)
                       or p.name = any (capture.exclude_names))),
         (select coalesce(json_object_agg(p.name,
                                          coalesce(capture.mask -> p.attnum::text, capture.mask_names -> p.name)), '{}')
            from present p
           where not p.in_key and (capture.mask ? p.attnum::text or capture.mask_names ? p.name))
    into keep, leave_out, masks;
end
$$;
