-- Purpose:    returns keys and lane hashes of two rows, as the trigger functions compute them
-- Parameters: capture; rows before and after, null where there is none
-- Result:     old and new key: null where there is no row, when the table has no key, or a key column was dropped; old
--             and new hash; whether these rows have null in their keys; what is kept of the old row when its image is
--             not
create or replace function rowrelay.row_keys(capture rowrelay.capture, before_row record, after_row record,
                                             out old_key text,
                                             out old_hash integer, out new_key text, out new_hash integer,
                                             out old_is_null boolean, out new_is_null boolean, out key_row json)
language plpgsql as $$
declare
  key_columns  constant smallint[] := rowrelay.live_key(capture);
  lane_columns constant smallint[] := coalesce(capture.lane_columns, key_columns);
  has_old      constant boolean := before_row is distinct from null;
  has_new      constant boolean := after_row is distinct from null;
  old_nulls    text;
  new_nulls    text;
begin
  select string_agg(format('old.%I is not distinct from null', a.attname), ' or ') filter (where has_old),
         string_agg(format('new.%I is not distinct from null', a.attname), ' or ') filter (where has_new)
    into old_nulls, new_nulls
    from pg_attribute a
   where a.attrelid = capture.relation and a.attnum = any (key_columns) and not a.attisdropped;
  execute format('select %s, %s, %s, %s, %s, %s, %s from %s',
                 case when has_old then rowrelay.key_expression(capture.relation, key_columns, 'old') else 'null' end,
                 rowrelay.hash_expression(capture.id, capture.relation, lane_columns, 'old'),
                 case when has_new then rowrelay.key_expression(capture.relation, key_columns, 'new') else 'null' end,
                 rowrelay.hash_expression(capture.id, capture.relation, lane_columns, 'new'),
                 coalesce(old_nulls, 'false'), coalesce(new_nulls, 'false'),
                 case when has_old and cardinality(key_columns) > 0 then rowrelay.key_row(capture) else 'null' end,
                 rowrelay.rows_given(before_row, after_row))
     into old_key, old_hash, new_key, new_hash, old_is_null, new_is_null, key_row
     using before_row, after_row;
end
$$;
