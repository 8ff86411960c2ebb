-- Purpose:    logs the present state of the row with a key: its values, or that it does not exist. It is called where
--             logged changes of the row may arrive in another order: across lanes, or for keys that are not unique. It
--             must not fail where the writer would not.
-- Parameters: capture id; key as the log has it; hash that chooses the lane, null: a barrier
create or replace function rowrelay.record_state(capture_id integer, key text, lane_hash integer) returns void
language plpgsql set search_path = pg_catalog, pg_temp set datestyle = 'ISO, MDY' set timezone = 'UTC'
set intervalstyle = 'postgres'
set array_nulls = on set bytea_output = 'hex' set extra_float_digits = 1 set lc_monetary = 'C'
set quote_all_identifiers = off set jit = off as $$
declare
  capture rowrelay.capture;
  part    regclass;
  images  record;
  present record;
  is_gone boolean := true;
  key_row json;
  shown   text; -- without an inheritance child's own columns
  keys    text[] := '{}';
  rows    json[] := '{}';
  caveats json[] := '{}';
begin
  -- Nothing is written where errors are caught: that would take a transaction id for each row.
  begin
    select c.* into strict capture from rowrelay.capture c where c.id = capture_id;
    capture := rowrelay.renumbered(capture);
    if row_security_active(capture.relation) then
      raise exception 'row-level security hides the row from role %', current_user;
    end if;
    if rowrelay.has_children(capture.relation) and rowrelay.rows_with_key(capture_id, key, true) > 1 then
      raise exception '%', rowrelay.shared_key();
    end if;
    select * into strict images from rowrelay.image_expression(capture);
    select string_agg(format('t.%I', a.attname), ', ' order by a.attnum) into shown
      from pg_attribute a where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped;
    for part in
      select m from unnest(rowrelay.captured_tables(capture)) as m join pg_class c on c.oid = m and c.relkind = 'r'
    loop
      for present in
        execute format(
            'select %s as key, %s as image, %s as names from (select %s from only %s as t) as new, %s where %s',
                       rowrelay.key_expression(capture.relation, rowrelay.live_key(capture), 'new'),
                       images.image, coalesce(images.text_columns, 'null::text[]'),
                       case when rowrelay.has_children(capture.relation) then shown else 't.*' end, part,
                       rowrelay.parsed_keys(capture, 'array[$1]'),
                       concat_ws(' and ', rowrelay.same_key(capture, 'new', 'wanted'),
                                 rowrelay.filter_condition(capture)))
          using key
      loop
        keys := array_append(keys, present.key);
        rows := array_append(rows, present.image);
        caveats := array_append(caveats, case when present.names <> '{}'
                                              then json_build_object('text_columns', present.names) end);
        is_gone := false;
      end loop;
    end loop;
    if is_gone then
      execute format('select %s from %s',
                     rowrelay.key_json(capture.relation,
                                       rowrelay.attribute_names(capture.relation, capture.key_columns), 'wanted'),
                     rowrelay.parsed_keys(capture, 'array[$1]')) into key_row using key;
    end if;
  exception when others then
    perform rowrelay.add_change(capture_id, 'u', key, lane_hash, null, null, sqlerrm);
    return;
  end;
  if is_gone then
    perform rowrelay.add_change(capture_id, 'd', key, lane_hash, key_row, null);
  end if;
  for place in 1 .. cardinality(keys) loop
    perform rowrelay.add_change(capture_id, 'u', keys[place], lane_hash, null, rows[place], null, caveats[place]);
  end loop;
end
$$;
