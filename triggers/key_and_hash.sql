-- Purpose:    key text and lane hash out of a row image, as the generated triggers compute them from the row
-- Parameters: capture; an untrimmed row image
-- Result:     key: null when the table has none, or a column of it is gone; hash
create or replace function rowrelay.key_and_hash(capture rowrelay.capture, image json, out key text, out hash integer)
language plpgsql as $$
declare
  key_columns  smallint[] := rowrelay.live_key(capture);
  lane_columns smallint[] := coalesce(capture.lane_columns, key_columns);
  definitions  text;
begin
  select string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', ') into definitions
    from pg_attribute a
   where a.attrelid = capture.relation and not a.attisdropped and a.attnum = any (key_columns || lane_columns);
  hash := hashint4(capture.id);
  if image is null or definitions is null then
    return;
  end if;
  execute format('select %s, %s from json_to_record($1) as new(%s)',
                 rowrelay.key_expression(capture.relation, key_columns, 'new'),
                 rowrelay.hash_expression(capture.id, capture.relation, lane_columns, 'new'),
                 definitions)
     into key, hash using image;
end
$$;
