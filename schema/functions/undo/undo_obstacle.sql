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
  select coalesce(nullif(r.by_key, ''), nullif(r.exactly, ''), 'true') into strict place
    from rowrelay.row_conditions(array[capture_id], array[key_texts]) as r;
  execute format('select exists (select from %s as t where %s)', name, place) into there;
  if texts is null or not there then
    return case when there then 'A row with its key exists' when texts is not null then 'The row does not exist' end;
  end if;
  select string_agg(format('case when not row(t.%s)::record *= row(%s)::record then %L end', c.identifier,
                           quote_nullable(texts ->> c.name) || c.type_cast, c.name), ', ' order by c.number)
    into other
    from rowrelay.undo_columns(array[capture_id]) as c
   where texts ? c.name and not c.is_masked;
  -- an array, because a function takes at most 100 arguments
  execute format('select array_to_string(array[%s]::text[], '', '') from %s as t where %s limit 1', other, name,
                 place) into other;
  return 'It has other values in: ' || nullif(other, '');
end
$$;
