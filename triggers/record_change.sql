-- Purpose:    captures a change the slow way, by what the catalogs say at this moment. The generated triggers fall back
--             to it when a column they name has been renamed, dropped or retyped since, or when a row is too large for
--             an image. It must not fail where the writer would not, so what it cannot do it records as a problem.
--             What nests is told from what does not as in rowrelay.nesting_statements().
-- Parameters: capture; TG_OP; images before and after, untrimmed (null where there is none); what went wrong before;
--             the table that holds the row; where its new version is, if somebody may have changed it since; and its old one
create or replace function rowrelay.record_change(capture_id integer, operation text, before_image json,
                                                  after_image json, problem text default null, relation oid default null,
                                                  is_at tid default null, was_at tid default null) returns void
language plpgsql set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, MDY' set timezone = 'UTC' set intervalstyle = 'postgres' set bytea_output = 'hex'
set extra_float_digits = 1 set lc_monetary = 'C' set quote_all_identifiers = off as $$
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
  has_key      boolean := true;
  is_gone      boolean := false;
  is_back      boolean := false;
  id           bigint;
begin
  begin
    select c.* into capture from rowrelay.capture c where c.id = capture_id;
    if not found then
      raise exception 'the table was captured by a transaction that this one cannot see yet';
    end if;
    -- a row may have moved from one document to another
    keeps_before := rowrelay.keeps_before(capture) or rowrelay.document_columns(capture_id) <> '{}';
    key_names := rowrelay.attribute_names(capture.relation, rowrelay.live_key(capture));
    select i.* into images from rowrelay.image_columns(capture) as i;
    if (images.keep is not null or cardinality(images.leave_out) > 0 or images.masks::text <> '{}')
       and not rowrelay.names_are_current(capture.relation) then
      raise exception 'its columns were renamed by a transaction that this one cannot see yet';
    end if;
    select k.* into old_key, old_hash, new_key, new_hash from rowrelay.key_and_hash(capture, before_image, after_image) as k;
    -- as the trigger function does: see rowrelay.can_change_lane()
    if rowrelay.can_change_lane(capture)
       and (operation = 'DELETE' or operation = 'UPDATE' and old_key is distinct from new_key) then
      old_hash := null;
    elsif rowrelay.can_change_lane(capture) and operation = 'UPDATE' and old_hash is distinct from new_hash then
      new_hash := null;
    end if;
    -- Rows are in other lanes than before, and there is no barrier yet between those: make each one.
    if capture.lane_state <> rowrelay.lane_state(capture) then
      old_hash := null;
      new_hash := null;
    -- What stays the same row and goes to another lane is a barrier. A key may only be spelled otherwise.
    elsif operation = 'UPDATE' and old_hash <> new_hash and (old_key = new_key or not capture.key_is_exact) then
      new_hash := null;
    end if;
    new_row := rowrelay.trim_image(after_image, images.keep, images.leave_out, images.masks);
    old_row := rowrelay.trim_image(before_image, images.keep, images.leave_out, images.masks);
    old_key_row := case when cardinality(key_names) > 0 then rowrelay.trim_image(before_image, key_names, '{}', '{}') end;
    has_key := cardinality(key_names) > 0;
    is_gone := is_at is not null and operation <> 'DELETE' and rowrelay.is_superseded(relation, is_at);
    is_back := has_key and (operation = 'DELETE' or operation = 'UPDATE' and old_key is distinct from new_key)
               and rowrelay.is_present(capture_id, old_key);
    if exists (select from unnest(key_names) as name, (values (before_image), (after_image)) as v(image)
                where v.image is not null and coalesce(json_typeof(v.image -> name), 'null') = 'null') then
      problem := 'its key is null';
    elsif new_row is not null or old_row is not null then
      problem := null; -- what went wrong before is made good
    end if;
  exception when others then
    problem := sqlerrm;
    if sqlstate in ('22P02', '22P05') then
      -- the images are of now, and not made readable as rowrelay.image_statements() does
      problem := concat(problem, (select format(' (in column %s)', string_agg(a.name, ' or '))
                                    from rowrelay.awkward_columns(capture.relation) a where a.is_unreadable
                                  having count(*) > 0));
    end if;
    new_row := null;
    old_row := null;
    old_key_row := null;
  end;

  if not has_key then
    if is_gone and rowrelay.take_follower(relation, is_at) then
      if operation = 'INSERT' then
        return;
      end if;
      operation := 'DELETE';
    end if;
    id := rowrelay.add_change(capture_id, case operation when 'INSERT' then 'i' when 'UPDATE' then 'u' else 'd' end::"char",
                              case operation when 'DELETE' then old_key else new_key end,
                              case operation when 'DELETE' then old_hash else new_hash end,
                              case when operation <> 'INSERT' then old_row end, case when operation <> 'DELETE' then new_row end, problem);
    if operation <> 'INSERT' and was_at is not null then
      perform rowrelay.note_follower(relation, was_at, id, rowrelay.partition_day());
    end if;
    return;
  end if;

  if operation = 'DELETE' or operation = 'UPDATE' and old_key is distinct from new_key then
    -- a row that is there under another spelling of the key takes nothing from that the former one has gone
    if not is_back or not capture.key_is_exact then
      perform rowrelay.add_change(capture_id, 'd', old_key, old_hash,
                                  case when keeps_before then old_row
                                       when operation = 'DELETE' then coalesce(old_key_row, old_row) else old_key_row end,
                                  null, problem);
    end if;
    if is_back then
      perform rowrelay.record_state(capture_id, old_key, old_hash);
    end if;
    if operation = 'DELETE' then
      return;
    end if;
    operation := 'INSERT';
  end if;
  if is_gone then
    -- rare enough to be told in full: documents that the row has left, another lane
    perform rowrelay.add_change(capture_id, 'r', new_key, new_hash, old_row, null);
    perform rowrelay.record_state(capture_id, new_key, new_hash);
  else
    perform rowrelay.add_change(capture_id, case operation when 'INSERT' then 'i' else 'u' end::"char", new_key, new_hash,
                                case when operation = 'UPDATE' and keeps_before then old_row end, new_row, problem);
  end if;
end
$$;
