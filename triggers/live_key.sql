-- Purpose:    the key that rows still have. When one of its columns has been dropped, the rest tells no rows apart: then
--             changes are captured as those of a table without a key, with the row before, until somebody says what the
--             key is now.
-- Parameters: capture
-- Result:     attribute numbers; empty when there is no key, or not any more
create or replace function rowrelay.live_key(capture rowrelay.capture) returns smallint[]
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  return (
    select case when array_position(rowrelay.attribute_names(capture.relation, capture.key_columns), null) is null
                then capture.key_columns else '{}' end);
end
$$;
