-- Purpose:    the slow path of capture: captures a change by the present catalogs, as a new trigger function would. The
--             generated triggers fall back to it when a column that they name was renamed, dropped or given another
--             type, or when a row is too large for an image. It must not fail where the writer would not, so it records
--             what it cannot do as a problem. It handles nested writes as rowrelay.nesting_statements() does.
-- Parameters: capture; TG_OP; rows before and after (null where there is none); the error that led here; the table with
--             the row; ctid of its new version, if another write may have changed it since; and of its old one
create or replace function rowrelay.record_row(capture_id integer, operation text, before_row record, after_row record,
                                               problem text, relation oid default null, is_at tid default null,
                                               was_at tid default null) returns void
language plpgsql set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, MDY' set timezone = 'UTC' set intervalstyle = 'postgres'
set array_nulls = on set bytea_output = 'hex'
set extra_float_digits = 1 set lc_monetary = 'C' set quote_all_identifiers = off set jit = off as $$
declare
  capture      rowrelay.capture;
  old_key      text;
  new_key      text;
  old_hash     integer;
  new_hash     integer;
  new_row      json;
  old_row      json;
  old_key_row  json;
  caveat       json;
  old_is_null  boolean; -- in its key
  new_is_null  boolean;
  old_problem  text;    -- of a change of the old key
  has_documents boolean;
  keeps_before boolean;
  has_key      boolean := true;
  rekeyed      boolean := false;
  is_gone      boolean := false;
  is_back      boolean := false;
  is_double    boolean := false;
  is_told      boolean := false; -- see rowrelay.nesting_statements()
  id           bigint;
begin
  begin
    select c.* into capture from rowrelay.capture c where c.id = capture_id;
    if not found then
      raise exception 'the table was captured by a transaction that this one cannot see yet';
    end if;
    capture := rowrelay.renumbered(capture);
    -- a row may have moved from one document to another
    has_documents := exists (select from rowrelay.present_sources(capture_id));
    keeps_before := rowrelay.keeps_before(capture) or has_documents;
    has_key := cardinality(rowrelay.live_key(capture)) > 0;
    if exists (select from rowrelay.image_columns(capture) as i
                where i.keep is not null or cardinality(i.leave_out) > 0 or i.masks::text <> '{}')
       and not rowrelay.names_are_current(capture.relation) then
      raise exception 'its columns were altered';
    end if;
    select k.* into old_key, old_hash, new_key, new_hash, old_is_null, new_is_null, old_key_row
      from rowrelay.row_keys(capture, before_row, after_row) as k;
    rekeyed := has_key and operation = 'UPDATE' and old_key is distinct from new_key;
    is_told := not (rowrelay.key_is_unique(capture) and capture.key_is_exact) or rowrelay.can_change_lane(capture);
    -- As the trigger function does, see rowrelay.can_change_lane(); but here nobody knows which transaction made a row.
    if rowrelay.can_change_lane(capture) or not has_key and cardinality(capture.lane_columns) > 0 then
      -- a key with only another spelling is the same row, so the row moves too
      if operation = 'UPDATE' and (not rekeyed or not capture.key_is_exact) then
        new_hash := null;
      end if;
      if operation = 'DELETE' or rekeyed then
        old_hash := null;
      end if;
    end if;
    -- Rows have changed lanes, and there is no barrier between old and new lanes yet: make each change a barrier. A
    -- transaction that cannot see that yet has old catalogs.
    if capture.lane_state <> rowrelay.lane_state(capture)
       or not rowrelay.lanes_are_current(capture) then
      old_hash := null;
      new_hash := null;
    end if;
    -- A row with null in its key is not found by that, and each of its changes is listed.
    is_gone := is_at is not null and operation <> 'DELETE' and new_is_null is not true
               and rowrelay.is_superseded(relation, is_at, after_row);
    is_back := has_key and (operation = 'DELETE' or rekeyed) and old_is_null is not true
               and rowrelay.is_present(capture_id, old_key, relation);
    if has_key and (operation = 'INSERT' or rekeyed) and rowrelay.has_children(capture.relation) then
      is_double := rowrelay.shares_key(capture_id, new_key, relation);
    end if;
    select i.* into old_row, new_row, caveat
      from rowrelay.row_images(capture, before_row, after_row, keeps_before) as i;
    -- an update after which the row begins or ceases to meet the row filter
    if capture.row_filter is not null and operation <> 'UPDATE' and pg_column_size(before_row) is not null
       and pg_column_size(after_row) is not null then
      caveat := json_strip_nulls(json_build_object('filtered', true, 'text_columns', caveat -> 'text_columns'));
    end if;
    -- else the change was captured after all
    old_problem := case when old_is_null then 'its key is null' end;
    problem := case when new_is_null then 'its key is null' end;
  exception when others then
    problem := case when sqlstate = '42501' or rowrelay.names_are_current(capture.relation) then sqlerrm
                    else 'its columns were altered by a transaction that this one cannot see yet' end;
    old_problem := problem;
    old_key_row := null;
  end;

  if not has_key then
    if is_gone and rowrelay.take_follower(relation, is_at) then
      if operation = 'INSERT' then
        return;
      end if;
      operation := 'DELETE';
    end if;
    id := rowrelay.add_change(capture_id,
                              case operation when 'INSERT' then 'i' when 'UPDATE' then 'u' else 'd' end::"char", null,
                              case operation when 'DELETE' then old_hash else new_hash end,
                              case when operation <> 'INSERT' then old_row end,
                                case when operation <> 'DELETE' then new_row end,
                              problem, caveat);
    if operation <> 'INSERT' and was_at is not null then
      perform rowrelay.note_follower(relation, was_at, id, rowrelay.partition_day());
    end if;
    return;
  end if;

  if operation = 'DELETE' or rekeyed then
    -- if the key exists again under another spelling, the old spelling is still gone
    if not is_back or not capture.key_is_exact then
      perform rowrelay.add_change(capture_id, 'd', old_key, old_hash,
                                  case when keeps_before then old_row else old_key_row end,
                                  null, old_problem,
                                  case when keeps_before or caveat -> 'filtered' is not null then caveat end);
    end if;
    if is_back then
      perform rowrelay.mark_left_out(capture_id, old_key, old_hash, case when has_documents then old_row end);
      if is_told then
        perform rowrelay.record_state(capture_id, old_key, old_hash);
      end if;
    end if;
    if operation = 'DELETE' then
      return;
    end if;
    operation := 'INSERT';
  end if;
  if is_gone then
    if rowrelay.can_change_lane(capture) then
      perform rowrelay.record_state(capture_id, new_key, null); -- nobody knows in which lanes it was
    end if;
    perform rowrelay.mark_left_out(capture_id, new_key, new_hash,
                                   case when has_documents and operation <> 'INSERT' then old_row end);
  elsif is_double then
    perform rowrelay.add_change(capture_id, case operation when 'INSERT' then 'i' else 'u' end::"char", new_key,
                                new_hash, null, null, rowrelay.shared_key());
  else
    perform rowrelay.add_change(capture_id, case operation when 'INSERT' then 'i' else 'u' end::"char",
                                new_key, new_hash,
                                case when operation = 'UPDATE' and keeps_before then old_row end, new_row,
                                  problem, caveat);
  end if;
end
$$;
