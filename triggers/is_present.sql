-- Purpose:    whether the caller's transaction sees a captured row with a key, in other tables than foreign ones
-- Parameters: capture id; key as the log has it; the table that had a row with it, if that is known
-- Result:     false also when this is unknown
create or replace function rowrelay.is_present(capture_id integer, key text, part oid default null)
  returns boolean
language plpgsql set search_path = pg_catalog, pg_temp set datestyle = 'ISO, MDY' set timezone = 'UTC'
set intervalstyle = 'postgres'
set array_nulls = on set bytea_output = 'hex' set extra_float_digits = 1 set lc_monetary = 'C'
set quote_all_identifiers = off set jit = off as $$
declare
  capture  rowrelay.capture;
  is_there boolean;
begin
  select c.* into strict capture from rowrelay.capture c where c.id = capture_id;
  capture := rowrelay.renumbered(capture);
  if row_security_active(capture.relation) then
    return false;
  end if;
  execute format('select exists (select from %s as new, %s where %s)', rowrelay.rows_here(capture, part),
                 rowrelay.parsed_keys(capture, 'array[$1]'),
                 concat_ws(' and ', rowrelay.same_key(capture, 'new', 'wanted'), rowrelay.filter_condition(capture)))
     into is_there using key;
  return is_there;
exception when others then
  return false;
end
$$;
