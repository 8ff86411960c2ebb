-- Purpose:    returns SQL that gives key texts and lane hashes of two row images, as the generated triggers compute
--             them from the rows: old_key, old_hash, new_key, new_hash; a key is null when there is no image, the
--             table has none, or a key column was dropped
-- Parameters: capture; SQL of the untrimmed row images before and after, which are json, null where there is none
create or replace function rowrelay.key_and_hash_query(capture rowrelay.capture, before_image text, after_image text)
returns text
language plpgsql stable as $$
declare
  key_columns  constant smallint[] := rowrelay.live_key(capture);
  lane_columns constant smallint[] := coalesce(capture.lane_columns, key_columns);
  definitions  text;
begin
  select string_agg(format('%I %s', a.attname, rowrelay.plain_type(a.atttypid, a.attcollation)), ', ') into definitions
    from pg_attribute a
   where a.attrelid = capture.relation and not a.attisdropped and a.attnum = any (key_columns || lane_columns);
  if definitions is null then
    return format('select null::text as old_key, hash as old_hash, null::text as new_key, hash as new_hash '
                  'from hashint4(%s) as hash', capture.id);
  end if;
  -- a row of nulls for a missing image
  return format(
    'select case when %1$s is not null then %2$s end as old_key, %3$s as old_hash, '
           'case when %4$s is not null then %5$s end as new_key, %6$s as new_hash '
      'from json_to_record(coalesce(%1$s, ''{}'')) as old(%7$s), json_to_record(coalesce(%4$s, ''{}'')) as new(%7$s)',
    before_image, rowrelay.key_expression(capture.relation, key_columns, 'old'),
    rowrelay.hash_expression(capture.id, capture.relation, lane_columns, 'old'),
    after_image, rowrelay.key_expression(capture.relation, key_columns, 'new'),
    rowrelay.hash_expression(capture.id, capture.relation, lane_columns, 'new'), definitions);
end
$$;
