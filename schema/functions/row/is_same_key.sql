-- Purpose:    whether two keys are equal by the equality operators of their types
-- Parameters: capture; two keys as the log has them
-- Result:     null: unknown, because the table is gone or its key was altered
create or replace function rowrelay.is_same_key(capture_id integer, one text, other text) returns boolean
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, MDY' set timezone = 'UTC' set intervalstyle = 'postgres'
set array_nulls = on set bytea_output = 'hex'
set extra_float_digits = 1 set lc_monetary = 'C' set quote_all_identifiers = off as $$
declare
  capture rowrelay.capture;
  is_same boolean;
begin
  select c.* into strict capture from rowrelay.capture c where c.id = capture_id;
  if rowrelay.has_domain_parts(capture.relation, capture.key_columns)
     or rowrelay.has_text_cast(capture.relation, capture.key_columns) then
    return null;
  end if;
  execute format('select %s from (select wanted.* from %s) as one, (select wanted.* from %s) as other',
                 rowrelay.same_key(capture, 'one', 'other'),
                 rowrelay.parsed_keys(capture, 'array[$1]'), rowrelay.parsed_keys(capture, 'array[$2]'))
     into is_same using one, other;
  return is_same;
exception when others then
  return null;
end
$$;
