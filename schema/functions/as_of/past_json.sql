-- Purpose:    returns the rows of a captured table as they were, for people to read: as rowrelay.past_rows(), but no
--             code of the table's owner runs for the caller, as CHECKs of domains do where a value is read as the
--             table's type
-- Parameters: relation; at; key: as for rowrelay.past_rows()
-- Result:     its rows as JSON, in no order. A value with domains inside arrays, rows or ranges is as in the log.
-- Errors:     as for rowrelay.past_rows()
create or replace function rowrelay.past_json(relation regclass, at timestamptz, key text) returns setof json
language plpgsql stable set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, MDY' set timezone = 'UTC' set intervalstyle = 'postgres'
set array_nulls = on set bytea_output = 'hex'
set extra_float_digits = 1 set lc_monetary = 'C' set quote_all_identifiers = off set enable_seqscan = on
  set jit = off as $$
declare
  -- without one, no CHECK can run, and it is faster to read rows as the table's type
  has_domain constant boolean := exists (
    select from pg_attribute a
     where a.attrelid = relation and a.attnum > 0 and not a.attisdropped
       and (rowrelay.plain_oid(a.atttypid) <> a.atttypid or rowrelay.has_inner_domain(a.atttypid)));
  statement  text;
  message    text;
  detail     text;
  hint       text;
begin
  if key is not null then
    perform set_config('enable_seqscan', 'off', true); -- a day without statistics looks small to the planner
  end if;
  statement := rowrelay.past_statement(relation, at, null, key, is_shown => has_domain);
  if not has_domain then
    statement := format('select %s from (%s) as rowrelay_row',
                        rowrelay.row_image((select c.reltype from pg_class c where c.oid = relation), 'rowrelay_row'),
                        statement);
  end if;
  return query execute statement;
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
