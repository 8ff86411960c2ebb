-- Purpose:    counts the captured rows that have a key now, up to two
-- Parameters: capture id; key as the log has it; whether a writer's trigger asks, which must not read foreign tables
-- Result:     null: unknown
create or replace function rowrelay.rows_with_key(capture_id integer, key text, by_writer boolean default false)
  returns bigint
language plpgsql set search_path = pg_catalog, pg_temp set datestyle = 'ISO, MDY' set timezone = 'UTC'
set intervalstyle = 'postgres'
set array_nulls = on set bytea_output = 'hex' set extra_float_digits = 1 set lc_monetary = 'C'
set quote_all_identifiers = off set jit = off as $$
declare
  capture rowrelay.capture;
  n       bigint;
begin
  select c.* into strict capture from rowrelay.capture c where c.id = capture_id;
  capture := rowrelay.renumbered(capture);
  if row_security_active(capture.relation) then
    return null;
  end if;
  execute format('select count(*) from (select from %s as new, %s where %s limit 2) as u',
                 case when by_writer then rowrelay.rows_here(capture) else capture.relation::text end,
                 rowrelay.parsed_keys(capture, 'array[$1]'),
                 concat_ws(' and ', rowrelay.same_key(capture, 'new', 'wanted'), rowrelay.filter_condition(capture)))
     into n using key;
  return n;
exception when others then
  return null;
end
$$;
