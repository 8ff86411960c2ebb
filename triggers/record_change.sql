-- Purpose:    captures a change by the slow path, as rowrelay.record_row() does, for trigger functions of version 1 of
--             the schema: they call it until they are replaced, half a minute after an upgrade. It does not handle
--             nested writes.
-- Parameters: capture; TG_OP; images before and after, untrimmed (null where there is none); the error that led here
create or replace function rowrelay.record_change(capture_id integer, operation text, before_image json,
                                                  after_image json, problem text default null) returns void
language plpgsql set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, MDY' set timezone = 'UTC' set intervalstyle = 'postgres'
set array_nulls = on set bytea_output = 'hex'
set extra_float_digits = 1 set lc_monetary = 'C' set quote_all_identifiers = off set jit = off as $$
declare
  capture     rowrelay.capture;
  key_names   text[];
  old_key     text;
  new_key     text;
  old_hash    integer;
  new_hash    integer;
  images      record;
  new_row     json;
  old_row     json;
  old_key_row json;
  keeps_before boolean;
begin
  begin
    select c.* into capture from rowrelay.capture c where c.id = capture_id;
    if not found then
      raise exception 'the table was captured by a transaction that this one cannot see yet';
    end if;
    capture := rowrelay.renumbered(capture);
    -- a row may have moved from one document to another
    keeps_before := rowrelay.keeps_before(capture) or rowrelay.document_columns(capture_id) <> '{}';
    key_names := rowrelay.attribute_names(capture.relation, rowrelay.live_key(capture));
    select i.* into images from rowrelay.image_columns(capture) as i;
    if (images.keep is not null or cardinality(images.leave_out) > 0 or images.masks::text <> '{}')
       and not rowrelay.names_are_current(capture.relation) then
      raise exception 'its columns were renamed by a transaction that this one cannot see yet';
    end if;
    select k.* into old_key, old_hash, new_key, new_hash
      from rowrelay.key_and_hash(capture, before_image, after_image) as k;
    -- Rows have changed lanes, and there is no barrier between old and new lanes yet: make each change a barrier.
    if capture.lane_state <> rowrelay.lane_state(capture) then
      old_hash := null;
      new_hash := null;
    end if;
    new_row := rowrelay.trim_image(after_image, images.keep, images.leave_out, images.masks);
    old_row := rowrelay.trim_image(before_image, images.keep, images.leave_out, images.masks);
    old_key_row := case when cardinality(key_names) > 0 then rowrelay.trim_image(before_image, key_names, '{}',
        '{}') end;
    if exists (select from unnest(key_names) as name, (values (before_image), (after_image)) as v(image)
                where v.image is not null and coalesce(json_typeof(v.image -> name), 'null') = 'null') then
      problem := 'its key is null';
    elsif new_row is not null or old_row is not null then
      problem := null; -- the change was captured after all
    end if;
  exception when others then
    problem := sqlerrm;
    if sqlstate in ('22P02', '22P05') then
      -- unlike rowrelay.image_statements(), this does not remove unreadable values from the images
      problem := concat(problem, (select format(' (in column %s)', string_agg(a.name, ' or '))
                                    from rowrelay.awkward_columns(capture.relation) a where a.is_unreadable
                                  having count(*) > 0));
    end if;
    new_row := null;
    old_row := null;
    old_key_row := null;
  end;

  if operation = 'UPDATE' and old_key is distinct from new_key and cardinality(key_names) > 0 then
    perform rowrelay.add_change(capture_id, 'd', old_key, old_hash,
                                case when keeps_before then old_row else old_key_row end, null, problem);
    perform rowrelay.add_change(capture_id, 'i', new_key, new_hash, null, new_row, problem);
  elsif operation = 'DELETE' then
    perform rowrelay.add_change(capture_id, 'd', old_key, old_hash,
                                case when keeps_before then old_row else coalesce(old_key_row, old_row) end,
                                null, problem);
  elsif operation = 'UPDATE' then
    perform rowrelay.add_change(capture_id, 'u', new_key, new_hash,
                                case when keeps_before then old_row end,
                                new_row, problem);
  else
    perform rowrelay.add_change(capture_id, 'i', new_key, new_hash, null, new_row, problem);
  end if;
end
$$;
