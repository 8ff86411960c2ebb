-- Purpose:    returns the key that rows still have. When a key column was dropped, the others do not identify rows:
--             then changes are captured as for a table without a key, with the image before, until the table is
--             captured again.
-- Parameters: capture
-- Result:     attribute numbers; empty when there is no key, or no longer
create or replace function rowrelay.live_key(capture rowrelay.capture) returns smallint[]
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  return (
    select case when array_position(rowrelay.attribute_names(capture.relation, capture.key_columns), null) is null
                then capture.key_columns else '{}' end);
end
$$;
