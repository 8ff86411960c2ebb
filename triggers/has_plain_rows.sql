-- Purpose:    whether the image of every ordinary row of a table is what row_to_json() makes of it, and cannot fail, so
--             that a trigger function makes it where nothing is guarded
-- Parameters: capture
-- Result:     false for a table with a filter, excluded or masked columns, documents, rows that change lanes, no key, a
--             key that may be null, inheritance children, or columns whose types or names need more
create or replace function rowrelay.has_plain_rows(capture rowrelay.capture) returns boolean
language plpgsql stable as $$
declare
  relation    constant regclass := capture.relation;
  key_columns constant smallint[] := rowrelay.live_key(capture);
begin
  return cardinality(key_columns) > 0 and capture.row_filter is null and not rowrelay.can_change_lane(capture)
     and not rowrelay.has_children(relation)
     and rowrelay.row_image((select c.reltype from pg_class c where c.oid = relation), 'new')
           = 'pg_catalog.row_to_json(new.*)'
     and not exists (select from pg_attribute a
                      where a.attrelid = relation and a.attnum > 0 and not a.attisdropped
                        and (a.attnum = any (key_columns) and not a.attnotnull
                             or a.attname = any ('{begin,by,declare,execute,foreach,if,loop,strict,while}')))
     and not exists (select from rowrelay.document_source s join rowrelay.target t on t.id = s.document
                      where s.capture = capture.id and t.dropped_at is null)
     and not exists (select from rowrelay.image_columns(capture) as i
                      where i.keep is not null or cardinality(i.leave_out) > 0 or i.masks::text <> '{}')
     -- The size of an array, jsonb or a multirange does not bound that of its text: numbers in it may have 131,072
     -- digits, and nulls take a bit.
     and not exists (select from pg_attribute a
                      where a.attrelid = relation and a.attnum > 0 and not a.attisdropped
                        and rowrelay.may_be_long(a.atttypid))
     -- each of them makes the function larger
     and (select count(*) <= 4 from rowrelay.awkward_columns(relation))
     -- no application has this one as it would have to be
     and not exists (select from rowrelay.pinned_settings(relation, key_columns || capture.lane_columns) as p
                      where p.name = 'search_path');
end
$$;
