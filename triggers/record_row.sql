-- Purpose:    captures a change the slow way: makes images of the rows, whatever their columns are by now, for
--             rowrelay.record_change()
-- Parameters: capture; TG_OP; rows before and after (null where there is none); what went wrong before; the rest as of
--             rowrelay.record_change()
create or replace function rowrelay.record_row(capture_id integer, operation text, before_row record, after_row record,
                                               problem text, relation oid default null, is_at tid default null,
                                               was_at tid default null) returns void
language plpgsql set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, MDY' set timezone = 'UTC' set intervalstyle = 'postgres' set bytea_output = 'hex'
set extra_float_digits = 1 set lc_monetary = 'C' set quote_all_identifiers = off as $$
declare
  before_image json;
  after_image  json;
begin
  begin
    before_image := rowrelay.row_as_json(before_row);
    after_image := rowrelay.row_as_json(after_row);
  exception when others then -- too large
    before_image := null;
    after_image := null;
    problem := sqlerrm;
  end;
  perform rowrelay.record_change(capture_id, operation, before_image, after_image, problem, relation, is_at, was_at);
end
$$;
