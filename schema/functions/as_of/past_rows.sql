-- Purpose:    returns the rows of a captured table as they were at a time or in a snapshot
-- Parameters: null cast to the table's row type; at: a time, or null; seen: a snapshot, or null; key: of the one wanted
--             row, null: all
-- Result:     its rows, in no order
-- Errors:     as for rowrelay.past_statement(); no_data_found: the log does not tell what a row was;
--             serialization_failure: changes were dropped meanwhile
create or replace function rowrelay.past_rows(relation anyelement, at timestamptz, seen pg_snapshot,
                                              key text default null)
returns setof anyelement
language plpgsql stable set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, MDY' set timezone = 'UTC' set intervalstyle = 'postgres'
set array_nulls = on set bytea_output = 'hex'
set extra_float_digits = 1 set lc_monetary = 'C' set quote_all_identifiers = off set enable_seqscan = on
  set jit = off as $$
declare
  message text;
  detail  text;
  hint    text;
begin
  if key is not null then
    perform set_config('enable_seqscan', 'off', true); -- a day without statistics looks small to the planner
  end if;
  return query execute rowrelay.past_statement(rowrelay.table_of(pg_typeof(relation)), at, seen, key);
  if not rowrelay.sees_log() then
    raise exception 'old changes were dropped since this transaction began' using errcode = 'serialization_failure',
      detail = 'The result may lack some of them.', hint = 'Try again in a new transaction.';
  end if;
exception when no_data_found then
  -- raised again, without a statement of a hundred lines as its context
  get stacked diagnostics message = message_text, detail = pg_exception_detail, hint = pg_exception_hint;
  raise exception '%', message using errcode = 'no_data_found', detail = detail, hint = hint;
end
$$;
