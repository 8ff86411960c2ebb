-- Purpose:    says in words how a row differs from what it should be
-- Parameters: capture; values with the row's key; the values that the row should have, null: it should not exist
-- Result:     null: it does not differ
create or replace function rowrelay.undo_obstacle(capture_id integer, key_texts jsonb, texts jsonb) returns text
language plpgsql as $$
declare
  capture rowrelay.capture;
  name    text;
  place   text;
  there   boolean;
  other   text;
begin
  select c.* into strict capture from rowrelay.capture c where c.id = capture_id;
  name := rowrelay.full_name(capture.relation);
  place := rowrelay.row_condition(capture, key_texts, 't', key_only => cardinality(rowrelay.live_key(capture)) > 0);
  execute format('select exists (select from %s as t where %s)', name, place) into there;
  if texts is null or not there then
    return case when there then 'A row with its key exists' when texts is not null then 'The row does not exist' end;
  end if;
  select string_agg(format('case when not row(t.%I)::record *= row(%s)::record then %L end', a.attname,
                           rowrelay.typed_literal(capture.relation, a.attname, texts ->> a.attname), a.attname), ', '
                             order by a.attnum)
    into other
    from pg_attribute a
   where a.attrelid = capture.relation and not a.attisdropped and texts ? a.attname::text
     and not (capture.mask ? a.attnum::text or capture.mask_names ? a.attname::text);
  -- an array, because a function takes at most 100 arguments
  execute format('select array_to_string(array[%s]::text[], '', '') from %s as t where %s limit 1', other, name,
                 place) into other;
  return 'It has other values in: ' || nullif(other, '');
end
$$;
