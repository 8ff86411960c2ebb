-- Purpose:    returns key texts and lane hashes of two row images, as the generated triggers compute them from the rows
-- Parameters: capture; untrimmed row images before and after, null where there is none
-- Result:     old and new key: null when the table has none, or a key column was dropped; old and new hash
create or replace function rowrelay.key_and_hash(capture rowrelay.capture, before_image json, after_image json,
                                                 out old_key text, out old_hash integer, out new_key text,
                                                   out new_hash integer)
language plpgsql as $$
declare
  key_columns  smallint[] := rowrelay.live_key(capture);
  lane_columns smallint[] := coalesce(capture.lane_columns, key_columns);
  definitions  text;
begin
  select string_agg(format('%I %s', a.attname, rowrelay.plain_type(a.atttypid, a.attcollation)), ', ') into definitions
    from pg_attribute a
   where a.attrelid = capture.relation and not a.attisdropped and a.attnum = any (key_columns || lane_columns);
  old_hash := hashint4(capture.id);
  new_hash := old_hash;
  if definitions is null then
    return;
  end if;
  -- a row of nulls for a missing image
  execute format(
      'select %s, %s, %s, %s from json_to_record(coalesce($1, ''{}'')) as old(%s), json_to_record(coalesce($2, '
      '''{}'')) as new(%s)',
                 rowrelay.key_expression(capture.relation, key_columns, 'old'),
                 rowrelay.hash_expression(capture.id, capture.relation, lane_columns, 'old'),
                 rowrelay.key_expression(capture.relation, key_columns, 'new'),
                 rowrelay.hash_expression(capture.id, capture.relation, lane_columns, 'new'),
                 definitions, definitions)
     into old_key, old_hash, new_key, new_hash using before_image, after_image;
  if before_image is null then
    old_key := null;
  end if;
  if after_image is null then
    new_key := null;
  end if;
end
$$;
