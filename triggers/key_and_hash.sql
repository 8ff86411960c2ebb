-- Purpose:    key text and lane hash out of a row image, as the generated triggers compute them from the row
-- Parameters: capture; an untrimmed row image
-- Result:     key: null when the table has none, or a column of it is gone; hash
create or replace function rowrelay.key_and_hash(capture rowrelay.capture, image json, out key text, out hash integer)
language plpgsql as $$
declare
  lane_columns smallint[] := coalesce(capture.lane_columns, capture.key_columns);
  definitions  text;
begin
  select string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', ') into definitions
    from pg_attribute a
   where a.attrelid = capture.relation and not a.attisdropped and a.attnum = any (capture.key_columns || lane_columns);
  hash := hashint4(capture.id);
  if image is null or definitions is null then
    return;
  end if;
  execute format('select %s, %s from json_to_record($1) as new(%s)',
                 case when rowrelay.attribute_names(capture.relation, capture.key_columns) @> array[null::text]
                      then 'null' else rowrelay.key_expression(capture.relation, capture.key_columns, 'new') end,
                 rowrelay.hash_expression(capture.id, capture.relation, lane_columns, 'new'),
                 definitions)
     into key, hash using image;
end
$$;
